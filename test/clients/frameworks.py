# LangChain and litellm against both families: a stream, and a tool whose result goes back.
import json
import os

import litellm
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

url, token = os.environ["PROXY_URL"], os.environ["PROXY_TOKEN"]
headers = {"X-Svc-Tools": "disabled"}
story, rain = "Once upon a time there was a proxy.", "It rains in Oslo."
family = os.environ["PROXY_FAMILY"]
model = f"{family}-vendor/test-model"
base = {"llma": f"{url}/llma", "llmo": f"{url}/llmo/v1"}[family]


@tool
def get_weather(city: str) -> str:
    """The weather"""
    return "rain"


def text_of(message):
    """A method in the oldest."""
    return message.text if isinstance(message.text, str) else message.text()


def with_langchain():
    settings = {"model": model, "base_url": base, "api_key": token, "default_headers": headers, "max_retries": 0}
    chat = ChatAnthropic(max_tokens=256, **settings) if family == "llma" else ChatOpenAI(**settings)
    assert "".join(text_of(chunk) for chunk in chat.stream("a story")) == story
    question = HumanMessage("the weather?")
    able = chat.bind_tools([get_weather])
    first = able.invoke([question])
    [call] = first.tool_calls
    assert call["args"] == {"city": "Oslo"}, call
    result = ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"])
    assert text_of(able.invoke([question, first, result])) == rain


def with_litellm():
    name = {"llma": "anthropic", "llmo": "openai"}[family]

    def ask(messages, **more):
        settings = {"api_base": base, "api_key": token, "extra_headers": headers, "num_retries": 0, "max_tokens": 256}
        return litellm.completion(model=f"{name}/{model}", messages=messages, **settings, **more)

    chunks = ask([{"role": "user", "content": "a story"}], stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == story
    question = {"role": "user", "content": "the weather?"}
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools = [{"type": "function", "function": {"name": "get_weather", "description": "The weather", "parameters": schema}}]
    message = ask([question], tools=tools).choices[0].message
    [call] = message.tool_calls
    assert json.loads(call.function.arguments) == {"city": "Oslo"}
    answer = {"role": "tool", "tool_call_id": call.id, "content": "rain"}
    assert ask([question, message, answer], tools=tools).choices[0].message.content == rain


{"langchain": with_langchain, "litellm": with_litellm}[os.environ["PROXY_CLIENT"]]()
print("all is well")
