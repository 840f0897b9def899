"""The process that serves a study: uvicorn, with bounds on what a client may cost before its request is a request.

uvicorn parses a head of any length for any time. Here a head has seconds and bytes, a connection that says nothing is
closed, and there are so many connections and no more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from extremal.collect.service import Service

MOST_CONNECTIONS = 2_000  # at once; others get 503 at once
LONGEST_HEAD = 64 << 10  # bytes of a request before its body
SLOWEST_HEAD = 10.0  # seconds for them, from the connection or from the first byte of the next request
GRACE = 10  # seconds for open requests when the server is asked to end


class GuardedProtocol(HttpToolsProtocol):
    """HTTP with heads that end."""

    _deadline: asyncio.TimerHandle | None = None  # set while a head is awaited
    _bytes = 0  # of that head

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def on_message_begin(self) -> None:
        self._await_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._stop_awaiting()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._deadline is not None:
            self._bytes += len(data)
            if self._bytes > LONGEST_HEAD:
                self._cut()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_awaiting()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._stop_awaiting()
        self._bytes = 0
        self._deadline = self.loop.call_later(SLOWEST_HEAD, self._cut)

    def _stop_awaiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None

    def _cut(self) -> None:
        self._stop_awaiting()
        self.transport.abort()


class _Server(uvicorn.Server):
    """Says when it listens, and where: port 0 is any free one."""

    listening: Callable[[int], None]

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.listening(self.servers[0].sockets[0].getsockname()[1])


def serve(service: Service, host: str, port: int, listening: Callable[[int], None]) -> None:
    """Serve until a signal comes; what was acknowledged is on disk, and the store is settled at the end."""
    config = uvicorn.Config(
        service.app,
        host=host,
        port=port,
        http=GuardedProtocol,
        ws="none",
        access_log=False,
        log_level="warning",
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=GRACE,
        server_header=False,
        proxy_headers=False,
    )
    server = _Server(config)
    server.listening = listening
    server.run()
