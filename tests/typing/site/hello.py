from a2a_django import TaskContext, agent


@agent()
async def hello(ctx: TaskContext) -> str:
    return f"Hello, {ctx.text}!"
