"""The shop's own tests: `python manage.py test example_project`."""

from __future__ import annotations

from a2a_django.testing import A2ATestCase, FakeReceiver
from example_project.shop.models import Stocktake


class OrderDeskTests(A2ATestCase):
    """The order desk, as its callers meet it; nothing listens and nothing is left behind."""

    fixtures = ["shop"]

    def test_an_order(self) -> None:
        task = self.a2a_client.send("Where is order 1003?")
        self.assertEqual(task.state, "completed", task)
        self.assertIn("Order 1003 of Chiara Lund is on its way.", task.text)
        self.assertEqual(task.data["number"], 1003)
        self.assertEqual(task.history[-1].text, "Looking up order 1003")

    def test_it_asks_for_the_number(self) -> None:
        task = self.a2a_client.send("Where is my order?")
        self.assertEqual(task.state, "input_required")
        self.assertIn("Which order do you mean?", task.text)
        unknown = self.a2a_client.send("4711", task=task)
        self.assertEqual(unknown.text, "There is no order 4711. Which one do you mean?")
        self.assertEqual(self.a2a_client.send("1001", task=task).state, "completed")

    def test_a_refund_waits_for_the_shop(self) -> None:
        task = self.a2a_client.send("Please refund order 1003")
        self.assertEqual(task.state, "input_required")
        self.assertEqual(
            task.text, "A refund of 54.40 for order 1003 of Chiara Lund needs the approval of the shop.", task
        )

    def test_a_stocktake_can_be_cancelled(self) -> None:
        with self.a2a_client.stream("Please do a stocktake") as stream:
            stream.read_until(lambda event: event.kind == "artifact")
            task = self.a2a_client.cancel(stream.task)
        self.assertEqual(task.state, "canceled")
        self.assertIn(" in stock", task.text)
        self.assertEqual(Stocktake.objects.get(task_id=task.id).outcome, Stocktake.Outcome.CANCELLED)

    def test_the_customer_hears_of_it(self) -> None:
        receiver = FakeReceiver()
        self.a2a_client.send("1003", push=receiver)
        self.assertEqual(receiver.states, ["working", "completed"])
        self.assertIn("Order 1003", receiver.text)

    async def test_from_asynchronous_code(self) -> None:
        stream = await self.async_a2a_client.stream("1003")
        await stream.read()
        self.assertEqual(stream.states, ["working", "completed"])
