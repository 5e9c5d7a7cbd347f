"""Clients in Python: a tool round trip, whole and streamed. argv: the client and the model."""

import json
import os
import sys
from types import SimpleNamespace

BASE, KEY = os.environ["BASE_URL"], os.environ["GATEWAY_KEY"]
client_name, MODEL = sys.argv[1:]
NAME, DESCRIPTION = "write_file", "Writes a file."
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["path", "content"],
}
FUNCTION = {"name": NAME, "description": DESCRIPTION, "parameters": SCHEMA}
TOOLS = [{"type": "function", "function": FUNCTION}]


def write_file(path: str, content: str) -> str:
    """Writes a file."""
    with open(path, "w") as file:
        file.write(content)
    return f"wrote {path}"


def user(prompt):
    return {"role": "user", "content": prompt}


def run(args):
    return write_file(**(json.loads(args) if isinstance(args, str) else args))


def openai_chat(prompt, is_streamed):
    from openai import OpenAI

    chat = OpenAI(base_url=f"{BASE}/v1", api_key=KEY, max_retries=0).chat.completions

    def ask(messages):
        request = {"model": MODEL, "messages": messages, "tools": TOOLS}
        if not is_streamed:
            return chat.create(**request).choices[0].message
        with chat.stream(**request) as stream:
            return stream.get_final_completion().choices[0].message

    message = ask([user(prompt)])
    (call,) = message.tool_calls
    sent = {"role": "assistant", "content": None, "tool_calls": [
        {"id": call.id, "type": "function",
         "function": {"name": NAME, "arguments": call.function.arguments}}]}
    result = {"role": "tool", "tool_call_id": call.id, "content": run(call.function.arguments)}
    return ask([user(prompt), sent, result]).content


def openai_responses(prompt, is_streamed):
    from openai import OpenAI

    responses = OpenAI(base_url=f"{BASE}/v1", api_key=KEY, max_retries=0).responses
    tools = [{"type": "function", "strict": False, **FUNCTION}]

    def ask(items):
        request = {"model": MODEL, "input": items, "tools": tools}
        if not is_streamed:
            return responses.create(**request)
        with responses.stream(**request) as stream:
            return stream.get_final_response()

    output = ask([user(prompt)]).output
    (call,) = [item for item in output if item.type == "function_call"]
    sent = {"type": "function_call", "call_id": call.call_id, "name": NAME,
            "arguments": call.arguments}
    result = {"type": "function_call_output", "call_id": call.call_id, "output": run(call.arguments)}
    return ask([user(prompt), sent, result]).output_text


def anthropic(prompt, is_streamed):
    from anthropic import Anthropic

    messages_api = Anthropic(base_url=BASE, api_key=KEY, max_retries=0).messages
    tools = [{"name": NAME, "description": DESCRIPTION, "input_schema": SCHEMA}]

    def ask(messages):
        request = {"model": MODEL, "max_tokens": 1000, "messages": messages, "tools": tools}
        if not is_streamed:
            return messages_api.create(**request).content
        with messages_api.stream(**request) as stream:
            return stream.get_final_message().content

    content = ask([user(prompt)])
    (call,) = [block for block in content if block.type == "tool_use"]
    sent = {"role": "assistant", "content": [
        {"type": "tool_use", "id": call.id, "name": NAME, "input": call.input}]}
    result = {"type": "tool_result", "tool_use_id": call.id, "content": run(call.input)}
    return ask([user(prompt), sent, {"role": "user", "content": [result]}])[0].text


def google_genai(prompt, is_streamed):
    from google import genai

    client = genai.Client(api_key=KEY, http_options={"base_url": BASE})
    # The client calls the function.
    chat = client.chats.create(model=MODEL, config={"tools": [write_file]})
    if not is_streamed:
        return chat.send_message(prompt).text
    return "".join(chunk.text or "" for chunk in chat.send_message_stream(prompt))


def cohere(prompt, is_streamed):
    from cohere import ClientV2

    client = ClientV2(api_key=KEY, base_url=BASE)

    def ask(messages):
        request = {"model": MODEL, "messages": messages, "tools": TOOLS}
        if not is_streamed:
            message = client.chat(**request).message
            return message.tool_calls, message.content[0].text if message.content else ""
        call, text = SimpleNamespace(id="", function=SimpleNamespace(name=NAME, arguments="")), ""
        for event in client.chat_stream(**request):
            if event.type == "content-delta":
                text += event.delta.message.content.text or ""
            if event.type == "tool-call-start":
                call.id = event.delta.message.tool_calls.id
            if event.type in ("tool-call-start", "tool-call-delta"):
                call.function.arguments += event.delta.message.tool_calls.function.arguments or ""
        return [call], text

    (call,), _ = ask([user(prompt)])
    args = call.function.arguments
    sent = {"role": "assistant", "tool_calls": [
        {"id": call.id, "type": "function", "function": {"name": NAME, "arguments": args}}]}
    result = {"role": "tool", "tool_call_id": call.id, "content": run(args)}
    return ask([user(prompt), sent, result])[1]


def mistralai(prompt, is_streamed):
    from mistralai.client import Mistral

    chat = Mistral(api_key=KEY, server_url=BASE).chat

    def ask(messages):
        request = {"model": MODEL, "messages": messages, "tools": TOOLS}
        if not is_streamed:
            message = chat.complete(**request).choices[0].message
            return message.tool_calls, message.content
        deltas = [event.data.choices[0].delta for event in chat.stream(**request)]
        calls = [call for delta in deltas for call in delta.tool_calls or []]
        return calls, "".join(delta.content or "" for delta in deltas)

    (call,), _ = ask([user(prompt)])
    args = call.function.arguments
    sent = {"role": "assistant", "content": "", "tool_calls": [
        {"id": call.id, "function": {"name": NAME, "arguments": args}}]}
    result = {"role": "tool", "name": NAME, "tool_call_id": call.id, "content": run(args)}
    return ask([user(prompt), sent, result])[1]


def litellm(prompt, is_streamed):
    import litellm as library

    bases = {"openai": f"{BASE}/v1", "anthropic": BASE}
    texts = []
    for provider, api_base in bases.items():
        to = {"model": f"{provider}/{MODEL}", "api_base": api_base, "api_key": KEY}

        def ask(messages):
            request = {"messages": messages, "tools": TOOLS, "stream": is_streamed, **to}
            response = library.completion(**request)
            whole = library.stream_chunk_builder(list(response)) if is_streamed else response
            return whole.choices[0].message

        message = ask([user(prompt)])
        (call,) = message.tool_calls
        result = {"role": "tool", "tool_call_id": call.id, "content": run(call.function.arguments)}
        texts.append(ask([user(prompt), message, result]).content)
    return texts[0] if texts[0] == texts[1] else f"They differ: {texts}"


def langchain(prompt, is_streamed):
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_openai import ChatOpenAI

    chat = ChatOpenAI(model=MODEL, base_url=f"{BASE}/v1", api_key=KEY, max_retries=0)
    model = chat.bind_tools([write_file])

    def ask(messages):
        if not is_streamed:
            return model.invoke(messages)
        first, *others = model.stream(messages)
        for chunk in others:
            first += chunk
        return first

    message = ask([HumanMessage(prompt)])
    (call,) = message.tool_calls
    result = ToolMessage(run(call["args"]), tool_call_id=call["id"])
    return ask([HumanMessage(prompt), message, result]).text


def pydantic_ai(prompt, is_streamed):
    import asyncio

    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=f"{BASE}/v1", api_key=KEY)
    agent = Agent(OpenAIChatModel(MODEL, provider=provider), tools=[write_file])

    async def read(_, events):
        async for _event in events:
            pass

    # `run_stream` would end with a text before a call.
    handler = read if is_streamed else None
    return asyncio.run(agent.run(prompt, event_stream_handler=handler)).output


for form in ("whole", "streamed"):
    path = f"{form}.txt"
    prompt = f"call {NAME} {json.dumps({'path': path, 'content': 'Ahoy'})}"
    text = globals()[client_name](prompt, form == "streamed")
    with open(path) as file:
        if file.read() != "Ahoy" or f"wrote {path}" not in text:
            sys.exit(f"{client_name}, {form}: {text}")
print("done")
