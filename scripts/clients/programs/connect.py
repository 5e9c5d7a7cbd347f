"""Signs in to the MCP endpoint of sys.argv[1] with OAuth, and calls a tool for each line of stdin.

The line "expire" ends its token by its own clock, so that it refreshes.

It prints the address of the consent page, and reads the address that gets the response.
"""

import asyncio
import json
import sys
from urllib.parse import parse_qs, urlparse

import mcp
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

url = sys.argv[1]


class Memory:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def say(**values):
    print(json.dumps(values), flush=True)


async def hear():
    return (await asyncio.to_thread(sys.stdin.readline)).strip()


async def open_page(address):
    say(page=address)


async def read_response():
    query = parse_qs(urlparse(await hear()).query)
    return AuthorizationCodeResult(**{name: values[0] for name, values in query.items()})


async def main():
    metadata = OAuthClientMetadata(
        client_name="Python",
        redirect_uris=["http://localhost:49153/callback"],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )
    auth = OAuthClientProvider(url, metadata, Memory(), open_page, read_response)
    async with create_mcp_http_client(auth=auth) as http:
        async with streamable_http_client(url, http_client=http) as (read, write, *_):
            async with mcp.ClientSession(read, write) as session:
                await session.initialize()
                say(connected=True)
                while name := await hear():
                    if name == "expire":
                        auth.context.token_expiry_time = 1
                        continue
                    result = await session.call_tool(name, {})
                    say(result=result.model_dump(mode="json", by_alias=True))


asyncio.run(main())
