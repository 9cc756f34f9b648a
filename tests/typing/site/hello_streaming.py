from collections.abc import AsyncIterator

from a2a_django import TaskContext, agent


@agent()
async def hello(ctx: TaskContext) -> AsyncIterator[str]:
    yield "Hello, "
    yield f"{ctx.text}!"
