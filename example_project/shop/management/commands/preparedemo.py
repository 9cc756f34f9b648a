from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.utils.translation import gettext as _

from example_project.shop.demo import lines_to_paste
from example_project.shop.models import Order

ADMIN = "admin"


class Command(BaseCommand):
    help = "Makes the demo ready: tables, data, an admin user; prints what to try."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--base", default="http://127.0.0.1:8000", help="Address that the site will have.")

    def handle(self, *args: Any, base: str, **options: Any) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        if not Order.objects.exists():
            call_command("loaddata", "shop", verbosity=0)
        password = self.admin_password(settings.DATA_DIR / "admin-password")
        write = self.stdout.write
        write("")
        write(self.style.MIGRATE_HEADING(_("The example site, a shop whose order desk is an A2A agent")))
        write(f"  {base}/")
        write(f"  {base}/admin/  " + _("user %(user)s, password %(password)s") % {"user": ADMIN, "password": password})
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
