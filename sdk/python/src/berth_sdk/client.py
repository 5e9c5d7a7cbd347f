"""The clients of a server."""

from __future__ import annotations

import copy
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Mapping, Optional, TypeVar

from .agent_api import AgentApi, AsyncAgentApi
from .gateway import AsyncGateway, Gateway
from .transport import Transport

#: The calls of an `AsyncBerth` that run at a time.
THREADS_MAX = 64

Client = TypeVar("Client", bound="_Client")


class _Client:
    def __init__(
        self,
        url: str = "http://localhost:3000",
        key: Optional[str] = None,
        *,
        agent_url: Optional[str] = None,
        gateway_url: Optional[str] = None,
        retries: int = 2,
        timeout: float = 600,
        headers: Optional[Mapping[str, str]] = None,
        opener: Optional[urllib.request.OpenerDirector] = None,
    ) -> None:
        """Creates a client, which sends nothing yet.

        Args:
            url: The address of the server.
            key: The API key. Only calls that need none work without it.
            agent_url: The address of the Agent API. Default: `/api` of `url`.
            gateway_url: The address of the gateway. Default: `/v1` of `url`.
            retries: Attempts after the first one.
            timeout: Seconds that the server may send nothing.
            headers: Headers of every call.
            opener: Sends the requests, for example through a proxy or with other certificates.
        """
        transport = Transport(
            base_url=(agent_url or f"{url.rstrip('/')}/api").rstrip("/"),
            key=key,
            retries=retries,
            timeout=timeout,
            headers=headers or {},
            idempotency_key=None,
            opener=opener or urllib.request.build_opener(),
        )
        base_url = (gateway_url or f"{url.rstrip('/')}/v1").rstrip("/")
        self._connect(transport, transport._replace(base_url=base_url))

    def _connect(self, agent: Transport, gateway: Transport) -> None:
        self._transports = (agent, gateway)

    def with_options(
        self: Client,
        *,
        idempotency_key: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
        retries: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> Client:
        """Returns a client with other options.

        Args:
            idempotency_key: The key of one call. Default: a random one for each call.
            headers: Headers of every call, instead of those before.
            retries: Attempts after the first one.
            timeout: Seconds that the server may send nothing.
        """
        given = {
            "idempotency_key": idempotency_key,
            "headers": headers,
            "retries": retries,
            "timeout": timeout,
        }
        changes: Any = {name: value for name, value in given.items() if value is not None}
        agent, gateway = self._transports
        client = copy.copy(self)
        client._connect(agent._replace(**changes), gateway._replace(**changes))
        return client


class Berth(_Client):
    """A client of one server. Several threads may use it.

    Attributes:
        agent: Apps, jobs, Explore, packs and the account.
        gateway: Models: chat, images, audio, video and embeddings.
    """

    agent: AgentApi
    gateway: Gateway

    def _connect(self, agent: Transport, gateway: Transport) -> None:
        super()._connect(agent, gateway)
        self.agent = AgentApi(agent)
        self.gateway = Gateway(gateway)


class AsyncBerth(_Client):
    """A client of one server for asyncio. `await` a call, or iterate it with `async for`.

    Each call runs in a thread, and at most 64 run at a time. A cancelled task ends its stream. Any
    other request still runs to its end.

    Attributes:
        agent: Apps, jobs, Explore, packs and the account.
        gateway: Models: chat, images, audio, video and embeddings.
    """

    agent: AsyncAgentApi
    gateway: AsyncGateway
    _threads: Optional[ThreadPoolExecutor] = None

    def _connect(self, agent: Transport, gateway: Transport) -> None:
        super()._connect(agent, gateway)
        self._threads = self._threads or ThreadPoolExecutor(THREADS_MAX, "berth")
        self.agent = AsyncAgentApi(self._threads, agent)
        self.gateway = AsyncGateway(self._threads, gateway)
