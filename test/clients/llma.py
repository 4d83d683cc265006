# The vendor's own Python SDK against /llma: a stream, a tool, an error, an early end.
import os

import anthropic

client = anthropic.Anthropic(
    api_key=os.environ["PROXY_TOKEN"],
    base_url=os.environ["PROXY_URL"] + "/llma",
    default_headers={"X-Svc-Tools": "disabled"},
    max_retries=0,
)
model = "llma-vendor/test-model"


def ask(messages, model=model, **more):
    return client.messages.create(model=model, max_tokens=256, messages=messages, **more)


with client.messages.stream(model=model, max_tokens=256, messages=[{"role": "user", "content": "a story"}]) as stream:
    assert "".join(stream.text_stream) == "Once upon a time there was a proxy."

question = {"role": "user", "content": "the weather?"}
schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
tools = [{"name": "get_weather", "description": "The weather", "input_schema": schema}]
first = ask([question], tools=tools)
call = next(block for block in first.content if block.type == "tool_use")
assert call.input == {"city": "Oslo"}, call.input
result = {"type": "tool_result", "tool_use_id": call.id, "content": "rain"}
last = ask([question, {"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}], tools=tools)
assert last.content[0].text == "It rains in Oslo."

with client.messages.stream(model=model, max_tokens=256, messages=[{"role": "user", "content": "long"}]) as stream:
    next(iter(stream.text_stream))

try:
    ask([{"role": "user", "content": "limit"}], model="llma-vendor/busy-model")
    raise AssertionError("no error came")
except anthropic.RateLimitError as error:
    assert error.body["error"]["type"] == "rate_limit_error"

print("all is well")
