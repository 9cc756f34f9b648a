from __future__ import annotations

import secrets
import socket
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from example_project.shop.demo import lines_to_paste
from example_project.shop.models import Order

ADMIN = "admin"


class Command(BaseCommand):
    help = "Makes the demo ready: tables, data, an admin user; prints what to try."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--base", default="http://127.0.0.1:8000", help="Address that the site will have.")
        parser.add_argument(
            "--port", type=int, help="Instead of --base: port of 127.0.0.1, on which nobody may listen yet."
        )

    def handle(self, *args: Any, base: str, port: int | None = None, **options: Any) -> None:
        if port is not None:
            check_port(port)
            base = f"http://127.0.0.1:{port}"
        call_command("migrate", verbosity=0, interactive=False)
        if not Order.objects.exists():
            call_command("loaddata", "shop", verbosity=0)
        password = self.admin_password(settings.DATA_DIR / "admin-password")
        write = self.stdout.write
        write("")
        write(self.style.MIGRATE_HEADING(_("The example site, a shop whose order desk is an A2A agent")))
        write(f"  {base}/")
        write(f"  {base}/admin/  " + _("user %(user)s, password %(password)s") % {"user": ADMIN, "password": password})
        if port is not None:
            write("  " + _("On another port: %(command)s") % {"command": f"make demo PORT={other_than(port)}"})
        for line in lines_to_paste(base):
            write("")
            write(self.style.MIGRATE_LABEL(f"# {line.title}"))
            write(line.command)
        write("")

    def admin_password(self, file: Path) -> str:
        """Return the password of the admin user; a user without one on file is given a new password."""
        user, __ = get_user_model().objects.get_or_create(
            username=ADMIN, defaults={"is_staff": True, "is_superuser": True}
        )
        if file.exists() and user.check_password(password := file.read_text().strip()):
            return password
        password = secrets.token_urlsafe(9)
        file.touch(mode=0o600)
        file.write_text(password + "\n")
        user.set_password(password)
        user.save()
        return password


def check_port(port: int) -> None:
    """Raise ``CommandError`` when the site could not listen on the port."""
    try:
        with socket.socket() as probe:
            probe.setsockopt(
                socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
            )  # as servers do: closed connections do not count
            probe.bind(("127.0.0.1", port))
            probe.listen()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        words = {"port": port, "reason": reason, "command": f"make demo PORT={other_than(port)}"}
        raise CommandError(
            _("Port %(port)s cannot be used: %(reason)s. Try another one: %(command)s") % words
        ) from error


def other_than(port: int) -> int:
    """Return a port to propose."""
    return 8123 if port != 8123 else 8124
