"""`extremal explore`: the explorer in a browser, served from this machine to this machine."""

from __future__ import annotations

import argparse
import contextlib
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from extremal.errors import InvalidParameter
from extremal.explorer import pages

TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
MOST_PORT = 65535  # a port is 16 bits


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "explore",
        help="open the explorer in a browser: what does ε cost?",
        description="Serve the explorer on 127.0.0.1 and open it in a browser.\n"
        "It is one static page: nothing is sent anywhere, and every state is in the address.",
        epilog="Press Ctrl-C to stop it.\nexit codes:  0 done   2 bad input",
    )
    verb.add_argument("--port", type=int, default=0, metavar="N", help="port to listen on (default: any free one)")
    verb.add_argument("--no-browser", action="store_true", help="print the address without opening a browser")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with server(options.port) as served:
        address = f"http://127.0.0.1:{served.server_address[1]}/"
        print(f"{address}  (press Ctrl-C to stop)", flush=True)
        if not options.no_browser:
            webbrowser.open(address)
        with contextlib.suppress(KeyboardInterrupt):
            served.serve_forever()
    return 0


def server(port: int) -> ThreadingHTTPServer:
    """The explorer on a port of 127.0.0.1; 0 is any free one."""
    if not 0 <= port <= MOST_PORT:
        raise InvalidParameter(
            f"the port must lie between 0 and {MOST_PORT}",
            parameter="--port",
            value=port,
            hint="0 means any free port.",
        )
    held = {f"/{name}": (TYPES[name.rpartition(".")[2]], data) for name, data in pages().items()}
    held["/"] = held["/index.html"]

    class Handler(BaseHTTPRequestHandler):
        """Three files, and nothing else of this machine."""

        def do_GET(self) -> None:
            kind, data = held.get(self.path.partition("?")[0], ("", b""))
            self.send_response(200 if kind else 404)
            self.send_header("Content-Type", f"{kind or 'text/plain'}; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Write no log: requests stay private."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)
