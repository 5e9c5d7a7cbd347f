"""Calls for asyncio. Each runs in a thread, so the standard library is enough."""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor
from contextlib import suppress
from typing import (
    Any,
    AsyncIterator,
    Callable,
    ClassVar,
    Dict,
    Generator,
    Generic,
    Mapping,
    TypeVar,
)

from .call import Opened, Page, run
from .encode import Operation
from .transport import Transport

Result = TypeVar("Result")
Item = TypeVar("Item")
Value = TypeVar("Value")


class AsyncCall(Generic[Result, Item]):
    """A call of an operation, which starts when it is awaited or iterated.

    `await` returns the response. `async for` returns the items of all pages of a list, or the events
    of a stream.
    """

    def __init__(
        self,
        threads: Executor,
        transport: Transport,
        operation: Operation,
        fields: Dict[str, Any],
    ) -> None:
        self._threads = threads
        self._transport = transport
        self._operation = operation
        self._fields = fields

    def __await__(self) -> Generator[Any, None, Result]:
        return self._respond().__await__()

    async def _respond(self) -> Result:
        if self._operation.events == "only" or self._fields.get("stream"):
            raise TypeError(f"{self._operation.path} is a stream here: use `async for`.")
        result: Any = await self._in_thread(
            lambda: run(self._transport, self._operation, self._fields)
        )
        # A page would request the next one in the thread of the event loop.
        body: Result = result.body if isinstance(result, Page) else result
        return body

    async def __aiter__(self) -> AsyncIterator[Item]:
        operation, fields = self._operation, self._fields
        if operation.events == "asked":
            fields = {**fields, "stream": True}
        elif not operation.events and not operation.items:
            raise TypeError(f"{operation.path} returns no list and no stream.")
        opened = Opened()
        items = iter(
            await self._in_thread(lambda: run(self._transport, operation, fields, opened))
        )
        end = object()
        try:
            while True:
                item: Any = await self._in_thread(lambda: next(items, end))
                if item is end:
                    return
                yield item
        finally:
            opened.end()
            if isinstance(items, Generator):
                # The thread of a cancelled task may still run it, and then closes it.
                with suppress(ValueError):
                    items.close()

    async def _in_thread(self, work: Callable[[], Value]) -> Value:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


class AsyncApi:
    """The operations of an API for asyncio."""

    _operations: ClassVar[Mapping[str, Operation]]

    def __init__(self, threads: Executor, transport: Transport) -> None:
        self._threads = threads
        self._transport = transport

    def _call(self, name: str, fields: Any) -> AsyncCall[Any, Any]:
        return AsyncCall(self._threads, self._transport, self._operations[name], fields)
