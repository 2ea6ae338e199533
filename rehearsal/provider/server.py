"""gRPC: the provider's methods under the protocol's names, errors as statuses that the engine understands."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc, status_pb2

from rehearsal.provider import marshal
from rehearsal.provider.errors import GoneError, PartialUpdateError, ProviderError
from rehearsal.provider.provider import Provider

_WORKERS: Final = 256
"""Requests at the same time: every creation holds one while it waits, and Cancel must still get through."""

_UNLIMITED: Final = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]

Handler = Callable[[Any], Any]


class Servicer(provider_pb2_grpc.ResourceProviderServicer):
    """What is not named here is answered with "unimplemented", by the generated base class."""

    def __init__(self, provider: Provider) -> None:
        handlers: dict[str, Handler] = {
            "Handshake": provider.handshake,
            "Attach": provider.attach,
            "GetPluginInfo": provider.plugin_info,
            "GetSchema": provider.schema,
            "CheckConfig": provider.check_config,
            "DiffConfig": provider.diff_config,
            "Configure": provider.configure,
            "Cancel": provider.cancel,
            "Invoke": provider.invoke,
            "Check": provider.check,
            "Diff": provider.diff,
            "Create": provider.create,
            "Read": provider.read,
            "Update": provider.update,
            "Delete": provider.delete,
        }
        for name, handler in handlers.items():
            setattr(self, name, _answering(handler))


def serve(provider: Provider) -> tuple[grpc.Server, int]:
    """Starts a server on a free port of the loopback and returns both; the caller stops it."""
    server = grpc.server(ThreadPoolExecutor(max_workers=_WORKERS), options=_UNLIMITED)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Servicer(provider), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, port


def _answering(handler: Handler) -> Callable[[Any, grpc.ServicerContext], Any]:
    def answer(request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return handler(request)
        except PartialUpdateError as error:
            _add_outputs(context, request.id, error)
            return context.abort(grpc.StatusCode.UNKNOWN, str(error))
        except GoneError:
            doing = "creating" if isinstance(request, provider_pb2.CreateRequest) else "updating"
            return context.abort(
                grpc.StatusCode.UNKNOWN,
                f"Resource provider reported that the resource did not exist while {doing} {request.urn}.",
            )
        except ProviderError as error:
            return context.abort(grpc.StatusCode.UNKNOWN, f"1 error occurred:\n\t* {error}\n\n")

    return answer


def _add_outputs(context: grpc.ServicerContext, resource_id: str, error: PartialUpdateError) -> None:
    """The detail that makes the engine keep the outputs, and update again the next time."""
    failed = provider_pb2.ErrorResourceInitFailed(
        id=resource_id, properties=marshal.to_struct(error.outputs), reasons=[str(error)]
    )
    detail = AnyMessage()
    detail.Pack(failed)
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(error), details=[detail])
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
