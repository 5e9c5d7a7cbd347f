"""Sends calls, and repeats those that the server did not run."""

from __future__ import annotations

import http.client
import json
import random
import socket
import time
import urllib.error
import urllib.request
import uuid
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any, Mapping, NamedTuple, Optional

from .encode import Encoded, Operation, encode
from .error import BerthError
from .version import VERSION

#: The longest wait in seconds that a server may ask for before a call is repeated.
RETRY_AFTER_MAX = 60.0
OVERLOADED = frozenset([429, 502, 503, 504])


class Transport(NamedTuple):
    """The parts of a client that all its calls use."""

    base_url: str
    key: Optional[str]
    #: Attempts after the first one.
    retries: int
    #: Seconds that the server may send nothing.
    timeout: float
    headers: Mapping[str, str]
    idempotency_key: Optional[str]
    opener: urllib.request.OpenerDirector


class Response(NamedTuple):
    status: int
    headers: Message
    #: The whole body; empty where the response is a stream.
    body: bytes
    #: The open response where it is a stream, which the caller closes.
    stream: Optional[http.client.HTTPResponse] = None


def send(
    transport: Transport,
    operation: Operation,
    fields: Mapping[str, Any],
    headers: Mapping[str, str] = {},
    is_stream: bool = False,
) -> Response:
    """Sends a call and returns its response.

    It repeats a call that the server did not run, and one whose response was lost if repeating it is
    safe. Raises `BerthError` for a response that is an error, and `ConnectionError` or `TimeoutError`
    where there was none.
    """
    encoded = encode(transport.base_url, operation, fields)
    own = {"User-Agent": f"berth-sdk-python/{VERSION}", **transport.headers, **headers}
    if encoded.type:
        own["Content-Type"] = encoded.type
    if operation.idempotent and "ref" not in fields:
        own["Idempotency-Key"] = transport.idempotency_key or str(uuid.uuid4())
    is_repeatable = operation.idempotent or operation.method != "POST"
    attempt = 0
    while True:
        is_last = attempt >= transport.retries
        try:
            response = _attempt(transport, operation.method, encoded, own, is_stream)
        except OSError:
            if is_last or not is_repeatable:
                raise
            delay = _backoff(attempt)
        else:
            error = _error(response)
            if error is None:
                return response
            asked = _repeat_after(error, attempt, is_repeatable)
            if is_last or asked is None or asked > RETRY_AFTER_MAX:
                raise error
            delay = asked
        time.sleep(delay)
        attempt += 1


def _attempt(
    transport: Transport,
    method: str,
    encoded: Encoded,
    headers: Mapping[str, str],
    is_stream: bool,
) -> Response:
    request = urllib.request.Request(encoded.url, encoded.body, dict(headers), method=method)
    if transport.key:
        # A redirect to another host does not get the key.
        request.add_unredirected_header("Authorization", f"Bearer {transport.key}")
    try:
        try:
            response = transport.opener.open(request, timeout=transport.timeout)
        except urllib.error.HTTPError as error:
            with error:
                return Response(error.code, error.headers, error.read())
        if is_stream and response.status != 204:
            return Response(response.status, response.headers, b"", response)
        with response:
            return Response(response.status, response.headers, response.read())
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(reason, (socket.timeout, TimeoutError)):
            raise TimeoutError(
                f"{encoded.url} sent nothing for {transport.timeout:g} seconds."
            ) from error
        raise ConnectionError(
            f"No response from {encoded.url}: {reason}. "
            "Check the address, and that the server runs."
        ) from error


def _error(response: Response) -> Optional[BerthError]:
    """Returns the error of a response. A 202 is one only while its payment is pending."""
    if response.status < 300 and response.status != 202:
        return None
    try:
        body = json.loads(response.body)
    except ValueError:
        body = None
    if response.status == 202 and not (isinstance(body, dict) and "code" in body):
        return None
    return BerthError(response.status, body, response.headers)


def _repeat_after(error: BerthError, attempt: int, is_repeatable: bool) -> Optional[float]:
    """Returns the seconds before a repetition; None where the call must not be repeated."""
    asked = _retry_after(error.headers.get("retry-after"))
    # The first attempt of this call may still run.
    if error.code == "busy" and attempt > 0 and is_repeatable:
        return _backoff(attempt) if asked is None else asked
    if error.status not in OVERLOADED:
        return None
    return _backoff(attempt) if asked is None and is_repeatable else asked


def _retry_after(value: Optional[str]) -> Optional[float]:
    """Parses Retry-After: seconds, or a date (RFC 9110, section 10.2.3)."""
    if value is None:
        return None
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _backoff(attempt: int) -> float:
    return 0.5 * 2.0**attempt * random.uniform(0.5, 1)
