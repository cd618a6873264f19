"""An S3 store in memory that serializes changes: python store.py HOST PORT.

moto alone checks whether a key exists and writes it in two steps, so two concurrent conditional writes can both
succeed; S3 guarantees that only one does.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import run_simple

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class OneChangeAtATime:
    """A WSGI application that executes write requests one at a time. Read requests (GET and HEAD) are not blocked."""

    def __init__(self, application: WSGIApplication) -> None:
        """Wrap the application that handles the requests."""
        self._application = application
        self._changing = threading.Lock()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Respond to a request."""
        if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            return self._application(environ, start_response)
        with self._changing:
            return self._application(environ, start_response)


if __name__ == "__main__":
    store = OneChangeAtATime(DomainDispatcherApplication(create_backend_app))
    run_simple(sys.argv[1], int(sys.argv[2]), store, threaded=True, request_handler=MotoRequestHandler)
