# The vendor's own Python SDK against /llmo: a stream, a tool, an error, an early end.
import json
import os

import openai

client = openai.OpenAI(
    api_key=os.environ["PROXY_TOKEN"],
    base_url=os.environ["PROXY_URL"] + "/llmo/v1",
    default_headers={"X-Svc-Tools": "disabled"},
    max_retries=0,
)
model = "llmo-vendor/test-model"


def ask(messages, model=model, **more):
    return client.chat.completions.create(model=model, messages=messages, **more)


chunks = ask([{"role": "user", "content": "a story"}], stream=True)
assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "Once upon a time there was a proxy."

question = {"role": "user", "content": "the weather?"}
schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
tools = [{"type": "function", "function": {"name": "get_weather", "parameters": schema}}]
message = ask([question], tools=tools).choices[0].message
call = message.tool_calls[0]
assert json.loads(call.function.arguments) == {"city": "Oslo"}
last = ask([question, message, {"role": "tool", "tool_call_id": call.id, "content": "rain"}], tools=tools)
assert last.choices[0].message.content == "It rains in Oslo."

stream = ask([{"role": "user", "content": "long"}], stream=True)
next(iter(stream))
stream.close()

try:
    ask([{"role": "user", "content": "limit"}], model="llmo-vendor/busy-model")
    raise AssertionError("no error came")
except openai.RateLimitError as error:
    assert error.status_code == 429

print("all is well")
