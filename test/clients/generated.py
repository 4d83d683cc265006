"""Calls creations by a client that openapi-python-client made: generated.py FOLDER URL TOKEN < {"operationId": body}.

Prints {"operationId": [status, sent, answered type]}: what the generated types made of the body, and of the answer.
"""

import importlib
import inspect
import json
import pathlib
import re
import sys

folder, url, token = sys.argv[1:]
package = pathlib.Path(folder)
sys.path.insert(0, str(package.parent))
client = importlib.import_module(f"{package.name}.client").AuthenticatedClient(base_url=url, token=token)


def find(operation: str):
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", operation).lower()
    (path,) = package.glob(f"api/*/{name}.py")
    return importlib.import_module(f"{package.name}.api.{path.parent.name}.{name}")


def call(operation: str, body):
    send = find(operation).sync_detailed
    if body is None:
        sent, answer = None, send(client=client)
    else:
        typed = inspect.signature(send).parameters["body"].annotation.from_dict(body)
        sent, answer = typed.to_dict(), send(client=client, body=typed)
    return [answer.status_code.value, sent, type(answer.parsed).__name__]


print(json.dumps({operation: call(operation, body) for operation, body in json.load(sys.stdin).items()}))
