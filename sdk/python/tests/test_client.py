"""Tests of the client. Those of a whole server need BERTH_URL, the address of one with demo models."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import threading
import unittest
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, List, Tuple

from berth_sdk import AsyncBerth, Berth, BerthError

HTML = "<!doctype html><title>Reef</title><h1>Reef</h1>"
URL = os.environ.get("BERTH_URL", "")


#: Watches notes until a timeout cancels it.
WATCHER = """
import asyncio, sys
from berth_sdk import AsyncBerth

async def watch() -> None:
    async for _ in AsyncBerth(sys.argv[1], sys.argv[2]).agent.watch_notes():
        pass

try:
    asyncio.run(asyncio.wait_for(watch(), 1))
except asyncio.TimeoutError:
    print("cancelled")
"""


@unittest.skipUnless(URL, "BERTH_URL is not set")
class ServerTest(unittest.TestCase):
    """Calls of a whole server."""

    berth: Berth
    key: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.key = Berth(URL).agent.new_agent()["key"]
        cls.berth = Berth(URL, cls.key)

    def test_a_page_is_published_and_read_back(self) -> None:
        app = self.berth.agent.publish_app(html=HTML, title="Reef")["app"]
        self.assertEqual(self.berth.agent.get_html(id=app["id"]), HTML)
        self.assertEqual(self.berth.agent.get_app(id=app["id"])["app"]["title"], "Reef")

    def test_a_folder_is_published_as_a_zip_with_its_other_fields_in_the_query(self) -> None:
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as archive:
            archive.writestr("index.html", HTML)
        result = self.berth.agent.publish_app(content=content.getvalue(), title="From a zip")
        self.assertEqual(self.berth.agent.get_app(id=result["app"]["id"])["app"]["title"], "From a zip")

    def test_a_list_iterates_over_the_items_of_all_its_pages(self) -> None:
        berth = Berth(URL, Berth(URL).agent.new_agent()["key"])
        for title in ("one", "two", "three"):
            berth.agent.publish_app(html=HTML, title=title)
        page = berth.agent.list_apps(limit=2)
        self.assertEqual(len(page.items), 2)
        self.assertEqual(sorted(app["title"] for app in page), ["one", "three", "two"])

    def test_a_chat_is_one_response_or_a_stream(self) -> None:
        messages: List[Any] = [{"role": "user", "content": "Ahoy there"}]
        chat = self.berth.gateway.create_chat_completion(model="demo/chat", messages=messages)
        self.assertIn("Ahoy", json.dumps(chat["choices"][0]["message"]))
        chunks = list(
            self.berth.gateway.create_chat_completion(
                stream=True, model="demo/chat", messages=messages
            )
        )
        self.assertGreater(len(chunks), 1)
        self.assertEqual(chunks[0]["object"], "chat.completion.chunk")

    def test_a_file_is_uploaded_with_its_name_and_read_back(self) -> None:
        file = self.berth.gateway.upload_file(file=("notes.txt", b"Ahoy"), purpose="user_data")
        self.assertEqual(file["filename"], "notes.txt")
        self.assertEqual(self.berth.gateway.get_file_content(id=file["id"]), b"Ahoy")

    def test_a_field_with_the_name_of_a_word_of_python_has_an_underscore(self) -> None:
        empty = self.berth.gateway.list_usage(from_="2001-01-01", to="2001-01-02")
        self.assertEqual(empty["data"], [])  # type: ignore[index]

    def test_a_file_of_a_folder_is_read_by_its_path(self) -> None:
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as archive:
            archive.writestr("index.html", HTML)
            archive.writestr("data/level 1.json", "{}")
        app = self.berth.agent.publish_app(content=content.getvalue())["app"]
        self.assertEqual(self.berth.agent.get_asset(id=app["id"], name="data/level 1.json"), b"{}")
        with self.assertRaises(BerthError):
            self.berth.agent.get_app(id="../me")

    def test_an_error_has_the_code_the_status_the_message_and_the_id_of_its_request(self) -> None:
        with self.assertRaises(BerthError) as raised:
            self.berth.agent.get_app(id="AAAAAAAAAAAA")
        error = raised.exception
        self.assertEqual((error.code, error.status), ("not_found", 404))
        self.assertTrue(error.message and error.request_id)
        with self.assertRaises(BerthError) as raised:
            Berth(URL).gateway.get_balance()
        self.assertEqual(raised.exception.code, "authentication_error")

    def test_asyncio_awaits_responses_and_iterates_over_pages_and_streams(self) -> None:
        async def walk() -> Tuple[List[str], int]:
            berth = AsyncBerth(URL, Berth(URL).agent.new_agent()["key"])
            await asyncio.gather(
                *[self._publish(berth, title) for title in ("one", "two", "three")]
            )
            self.assertEqual(len((await berth.agent.list_apps(limit=2))["apps"]), 2)
            titles = [app["title"] async for app in berth.agent.list_apps(limit=2)]
            messages: List[Any] = [{"role": "user", "content": "Ahoy there"}]
            call = berth.gateway.create_chat_completion(model="demo/chat", messages=messages)
            return sorted(titles), len([chunk async for chunk in call])

        titles, chunks = asyncio.run(walk())
        self.assertEqual(titles, ["one", "three", "two"])
        self.assertGreater(chunks, 1)

    def test_a_program_ends_after_the_task_of_an_endless_stream_was_cancelled(self) -> None:
        command = [sys.executable, "-c", WATCHER, URL, self.key]
        output = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual((output.stdout, output.stderr), ("cancelled\n", ""))

    @staticmethod
    async def _publish(berth: AsyncBerth, title: str) -> None:
        await berth.agent.publish_app(html=HTML, title=title)


class Scripted:
    """A server with prepared responses. A response of None closes the connection."""

    def __init__(self, *responses: Any) -> None:
        self.requests: List[Tuple[str, Dict[str, str]]] = []
        remaining = list(responses)
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                requests.append((self.path, headers))
                self.rfile.read(int(headers.get("content-length", 0)))
                response = remaining.pop(0)
                self.close_connection = True
                if response is None:
                    return
                status, own, body = response
                self.send_response(status)
                for name, value in own.items():
                    self.send_header(name, value)
                if "transfer-encoding" not in own:
                    self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.berth = Berth(f"http://127.0.0.1:{self._server.server_port}", "ak_x")

    def __enter__(self) -> Scripted:
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._server.server_close()


def as_json(body: Any, status: int = 200, **headers: str) -> Tuple[int, Dict[str, str], bytes]:
    own = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"content-type": "application/json", **own}, json.dumps(body).encode()


def busy(retry_after: str, status: int = 429) -> Tuple[int, Dict[str, str], bytes]:
    return as_json({"error": "Wait.", "code": "rate_limited"}, status, retry_after=retry_after)


def stream(*chunks: bytes, is_whole: bool = True) -> Tuple[int, Dict[str, str], bytes]:
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    headers = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
    return 200, headers, body + (b"0\r\n\r\n" if is_whole else b"")


class RetryTest(unittest.TestCase):
    """Calls of a server that is busy or breaks off."""

    def test_a_call_waits_as_retry_after_says_and_runs_again_with_one_key(self) -> None:
        past = "Thu, 01 Jan 1970 00:00:00 GMT"
        with Scripted(busy("0"), busy(past, 503), as_json({"price": 0})) as server:
            result = server.berth.agent.publish_app(html=HTML, dryRun=True)
        self.assertEqual(result, {"price": 0})
        keys = [headers["idempotency-key"] for _, headers in server.requests]
        self.assertEqual(len(keys), 3)
        self.assertEqual(len(set(keys)), 1)

    def test_the_idempotency_key_can_be_given(self) -> None:
        with Scripted(as_json({"price": 0})) as server:
            server.berth.with_options(idempotency_key="mine").agent.publish_app(html=HTML)
        self.assertEqual(server.requests[0][1]["idempotency-key"], "mine")

    def test_a_call_does_not_wait_for_hours(self) -> None:
        with Scripted(busy("3600")) as server:
            with self.assertRaises(BerthError) as raised:
                server.berth.agent.get_me()
        self.assertEqual(raised.exception.code, "rate_limited")
        self.assertEqual(len(server.requests), 1)

    def test_a_lost_response_is_asked_for_again_only_where_that_runs_nothing_twice(self) -> None:
        with Scripted(None, as_json({"keys": [], "next": None})) as server:
            self.assertEqual(list(server.berth.agent.list_keys()), [])
        self.assertEqual(len(server.requests), 2)
        with Scripted(None) as server:
            with self.assertRaises(ConnectionError):
                server.berth.agent.add_key()
        self.assertEqual(len(server.requests), 1)

    def test_an_id_that_leads_to_another_path_is_not_sent(self) -> None:
        for value in ("", ".", ".."):
            with self.assertRaisesRegex(ValueError, "id cannot be"):
                Berth("http://127.0.0.1:1").agent.get_app(id=value)

    def test_a_server_that_does_not_run_is_named(self) -> None:
        with Scripted() as server:
            pass
        with self.assertRaisesRegex(ConnectionError, "Check the address, and that the server runs"):
            server.berth.with_options(retries=0).agent.get_me()

    def test_a_stream_that_breaks_off_goes_on_after_its_last_event(self) -> None:
        with Scripted(
            stream(
                b'id: 1\r\ndata: {"state":\r\ndata: "running"}\r\n\r\n: beat\n\n', is_whole=False
            ),
            stream(b'id: 2\ndata: {"st', b'ate": "done"}\n\n'),
            (204, {}, b""),
        ) as server:
            states = [job["state"] for job in server.berth.agent.watch_job(id="AAAAAAAAAAAA")]
        self.assertEqual(states, ["running", "done"])
        last = [headers.get("last-event-id") for _, headers in server.requests]
        self.assertEqual(last, [None, "1", "2"])

    def test_a_chat_that_breaks_off_is_an_error(self) -> None:
        with Scripted(stream(b'data: {"choices": []}\n\n', is_whole=False)) as server:
            chunks = server.berth.gateway.create_chat_completion(
                stream=True, model="demo/chat", messages=[]
            )
            self.assertEqual(next(chunks), {"choices": []})
            with self.assertRaises(ConnectionError):
                next(chunks)

    def test_a_redirect_to_another_host_does_not_get_the_key(self) -> None:
        with Scripted(as_json({"keys": [], "next": None})) as other:
            to = f"http://localhost:{other._server.server_port}/"
            with Scripted((302, {"location": to}, b"")) as server:
                list(server.berth.agent.list_keys())
        self.assertEqual(server.requests[0][1]["authorization"], "Bearer ak_x")
        self.assertNotIn("authorization", other.requests[0][1])


if __name__ == "__main__":
    unittest.main()
