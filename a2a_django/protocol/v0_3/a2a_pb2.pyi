"""Generated from proto/a2a_v0_3.proto by `python proto/generate.py`; do not edit.

The messages and enums of a2a.v1, in the private descriptor pool of a2a_django/protocol/pool.py. The well-known types
are typed as protobuf's own classes, which they behave like; at run time they are the private pool's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime as _datetime
from typing import Any, Literal

from google.protobuf.descriptor import FileDescriptor as _FileDescriptor
from google.protobuf.descriptor_pool import DescriptorPool as _DescriptorPool
from google.protobuf.empty_pb2 import Empty as Empty
from google.protobuf.internal.containers import MessageMap as _MessageMap
from google.protobuf.internal.containers import RepeatedCompositeFieldContainer as _Messages
from google.protobuf.internal.containers import RepeatedScalarFieldContainer as _Scalars
from google.protobuf.internal.containers import ScalarMap as _ScalarMap
from google.protobuf.internal.enum_type_wrapper import _EnumTypeWrapper
from google.protobuf.message import Message as _Message
from google.protobuf.struct_pb2 import ListValue as ListValue
from google.protobuf.struct_pb2 import Struct as Struct
from google.protobuf.struct_pb2 import Value as Value
from google.protobuf.timestamp_pb2 import Timestamp as Timestamp

POOL: _DescriptorPool
DESCRIPTOR: _FileDescriptor

class _TaskStateWrapper(_EnumTypeWrapper[TaskState]):
    TASK_STATE_UNSPECIFIED: TaskState
    """Unknown; never sent."""
    TASK_STATE_SUBMITTED: TaskState
    """Accepted, not begun."""
    TASK_STATE_WORKING: TaskState
    """The agent is at it."""
    TASK_STATE_COMPLETED: TaskState
    """Ended as wished."""
    TASK_STATE_FAILED: TaskState
    """Ended by an error."""
    TASK_STATE_CANCELLED: TaskState
    """Ended because the client asked for it. 1.0 writes it with one L."""
    TASK_STATE_INPUT_REQUIRED: TaskState
    """Waits for a further message of the client."""
    TASK_STATE_REJECTED: TaskState
    """Ended: the agent does not want this task."""
    TASK_STATE_AUTH_REQUIRED: TaskState
    """Waits for credentials that the client must provide."""

class TaskState(int, metaclass=_TaskStateWrapper):
    """Where a task stands."""

TASK_STATE_UNSPECIFIED: TaskState
"""Unknown; never sent."""
TASK_STATE_SUBMITTED: TaskState
"""Accepted, not begun."""
TASK_STATE_WORKING: TaskState
"""The agent is at it."""
TASK_STATE_COMPLETED: TaskState
"""Ended as wished."""
TASK_STATE_FAILED: TaskState
"""Ended by an error."""
TASK_STATE_CANCELLED: TaskState
"""Ended because the client asked for it. 1.0 writes it with one L."""
TASK_STATE_INPUT_REQUIRED: TaskState
"""Waits for a further message of the client."""
TASK_STATE_REJECTED: TaskState
"""Ended: the agent does not want this task."""
TASK_STATE_AUTH_REQUIRED: TaskState
"""Waits for credentials that the client must provide."""

class _RoleWrapper(_EnumTypeWrapper[Role]):
    ROLE_UNSPECIFIED: Role
    """Unknown; never sent."""
    ROLE_USER: Role
    """The client, for its user."""
    ROLE_AGENT: Role
    """The agent."""

class Role(int, metaclass=_RoleWrapper):
    """Who speaks in a message."""

ROLE_UNSPECIFIED: Role
"""Unknown; never sent."""
ROLE_USER: Role
"""The client, for its user."""
ROLE_AGENT: Role
"""The agent."""

class SendMessageConfiguration(_Message):
    """How a message is to be answered."""
    @property
    def accepted_output_modes(self) -> _Scalars[str]:
        """Media types the client can use; empty: any."""
    @property
    def push_notification(self) -> PushNotificationConfig:
        """A webhook to register for the task."""
    history_length: int
    """The most messages of the history to send back, the latest ones. 0: as many as the agent likes."""
    blocking: bool
    """Answer when the task ends or waits for the client, instead of as soon as it exists."""
    def __init__(
        self,
        *,
        accepted_output_modes: Iterable[str] | None = ...,
        push_notification: PushNotificationConfig | None = ...,
        history_length: int | None = ...,
        blocking: bool | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["push_notification"]) -> bool: ...
    def ClearField(self, field_name: Literal["accepted_output_modes", "push_notification", "history_length", "blocking"]) -> None: ...

class Task(_Message):
    """One piece of work of an agent, with all that belongs to it."""
    id: str
    """Given by the agent, unique."""
    context_id: str
    """The conversation the task belongs to."""
    @property
    def status(self) -> TaskStatus:
        """Where it stands now."""
    @property
    def artifacts(self) -> _Messages[Artifact]:
        """What it has produced."""
    @property
    def history(self) -> _Messages[Message]:
        """The messages exchanged about it, oldest first."""
    @property
    def metadata(self) -> Struct:
        """Further data of the task, by agreement or extension."""
    def __init__(
        self,
        *,
        id: str | None = ...,
        context_id: str | None = ...,
        status: TaskStatus | None = ...,
        artifacts: Iterable[Artifact] | None = ...,
        history: Iterable[Message] | None = ...,
        metadata: Struct | Mapping[str, Any] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["status", "metadata"]) -> bool: ...
    def ClearField(self, field_name: Literal["id", "context_id", "status", "artifacts", "history", "metadata"]) -> None: ...

class TaskStatus(_Message):
    """The state of a task at one moment."""
    state: TaskState
    """The state."""
    @property
    def update(self) -> Message:
        """What the agent says about it."""
    @property
    def timestamp(self) -> Timestamp:
        """When the task came into this state."""
    def __init__(
        self,
        *,
        state: TaskState | str | None = ...,
        update: Message | None = ...,
        timestamp: Timestamp | _datetime | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["update", "timestamp"]) -> bool: ...
    def ClearField(self, field_name: Literal["state", "update", "timestamp"]) -> None: ...

class Part(_Message):
    """A piece of content: exactly one of text, file, data."""
    text: str
    """Plain text."""
    @property
    def file(self) -> FilePart:
        """A file."""
    @property
    def data(self) -> DataPart:
        """A JSON object."""
    @property
    def metadata(self) -> Struct:
        """Further data about this part. Not in 0.3.0."""
    def __init__(
        self,
        *,
        text: str | None = ...,
        file: FilePart | None = ...,
        data: DataPart | None = ...,
        metadata: Struct | Mapping[str, Any] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["text", "file", "data", "metadata", "part"]) -> bool: ...
    def ClearField(self, field_name: Literal["text", "file", "data", "metadata", "part"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["part"]) -> Literal["text", "file", "data"] | None: ...

class FilePart(_Message):
    """A file: exactly one of its bytes and its address."""
    file_with_uri: str
    """Where the file can be had."""
    file_with_bytes: bytes
    """The bytes; most SDKs put their base64 text in here, which JSON then encodes once more."""
    mime_type: str
    """The media type of the file."""
    name: str
    """The name of the file, for people. Not in 0.3.0."""
    def __init__(
        self,
        *,
        file_with_uri: str | None = ...,
        file_with_bytes: bytes | None = ...,
        mime_type: str | None = ...,
        name: str | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["file_with_uri", "file_with_bytes", "file"]) -> bool: ...
    def ClearField(self, field_name: Literal["file_with_uri", "file_with_bytes", "mime_type", "name", "file"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["file"]) -> Literal["file_with_uri", "file_with_bytes"] | None: ...

class DataPart(_Message):
    """Structured data."""
    @property
    def data(self) -> Struct:
        """The data."""
    def __init__(
        self,
        *,
        data: Struct | Mapping[str, Any] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["data"]) -> bool: ...
    def ClearField(self, field_name: Literal["data"]) -> None: ...

class Message(_Message):
    """One turn of the conversation between client and agent."""
    message_id: str
    """Given by the sender, unique."""
    context_id: str
    """The conversation; empty begins a new one."""
    task_id: str
    """The task it is about; empty begins a new one."""
    role: Role
    """Who speaks."""
    @property
    def content(self) -> _Messages[Part]:
        """The content, at least one part."""
    @property
    def metadata(self) -> Struct:
        """Further data of the message, by agreement or extension."""
    @property
    def extensions(self) -> _Scalars[str]:
        """URIs of the extensions that shaped this message."""
    def __init__(
        self,
        *,
        message_id: str | None = ...,
        context_id: str | None = ...,
        task_id: str | None = ...,
        role: Role | str | None = ...,
        content: Iterable[Part] | None = ...,
        metadata: Struct | Mapping[str, Any] | None = ...,
        extensions: Iterable[str] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["metadata"]) -> bool: ...
    def ClearField(self, field_name: Literal["message_id", "context_id", "task_id", "role", "content", "metadata", "extensions"]) -> None: ...

class Artifact(_Message):
    """Something a task has produced."""
    artifact_id: str
    """Unique within the task."""
    name: str
    """A name for people. There is no field 2."""
    description: str
    """What it is, for people."""
    @property
    def parts(self) -> _Messages[Part]:
        """The content, at least one part."""
    @property
    def metadata(self) -> Struct:
        """Further data of the artifact, by agreement or extension."""
    @property
    def extensions(self) -> _Scalars[str]:
        """URIs of the extensions that shaped this artifact."""
    def __init__(
        self,
        *,
        artifact_id: str | None = ...,
        name: str | None = ...,
        description: str | None = ...,
        parts: Iterable[Part] | None = ...,
        metadata: Struct | Mapping[str, Any] | None = ...,
        extensions: Iterable[str] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["metadata"]) -> bool: ...
    def ClearField(self, field_name: Literal["artifact_id", "name", "description", "parts", "metadata", "extensions"]) -> None: ...

class TaskStatusUpdateEvent(_Message):
    """A task came into a state."""
    task_id: str
    """The task."""
    context_id: str
    """Its conversation."""
    @property
    def status(self) -> TaskStatus:
        """Its new status."""
    final: bool
    """Whether this is the last event of the stream."""
    @property
    def metadata(self) -> Struct:
        """Further data of the event."""
    def __init__(
        self,
        *,
        task_id: str | None = ...,
        context_id: str | None = ...,
        status: TaskStatus | None = ...,
        final: bool | None = ...,
        metadata: Struct | Mapping[str, Any] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["status", "metadata"]) -> bool: ...
    def ClearField(self, field_name: Literal["task_id", "context_id", "status", "final", "metadata"]) -> None: ...

class TaskArtifactUpdateEvent(_Message):
    """A task produced an artifact or a chunk of one."""
    task_id: str
    """The task."""
    context_id: str
    """Its conversation."""
    @property
    def artifact(self) -> Artifact:
        """The artifact, or the parts to append to the one with this id."""
    append: bool
    """Whether the parts go to the end of what is there instead of replacing it."""
    last_chunk: bool
    """Whether the artifact is complete now."""
    @property
    def metadata(self) -> Struct:
        """Further data of the event."""
    def __init__(
        self,
        *,
        task_id: str | None = ...,
        context_id: str | None = ...,
        artifact: Artifact | None = ...,
        append: bool | None = ...,
        last_chunk: bool | None = ...,
        metadata: Struct | Mapping[str, Any] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["artifact", "metadata"]) -> bool: ...
    def ClearField(self, field_name: Literal["task_id", "context_id", "artifact", "append", "last_chunk", "metadata"]) -> None: ...

class PushNotificationConfig(_Message):
    """A webhook that is told what happens to a task."""
    id: str
    """Unique within the task; chosen by the agent when empty."""
    url: str
    """Where to POST the task."""
    token: str
    """Sent along each time, for the receiver to check."""
    @property
    def authentication(self) -> AuthenticationInfo:
        """How the agent proves itself to the receiver."""
    def __init__(
        self,
        *,
        id: str | None = ...,
        url: str | None = ...,
        token: str | None = ...,
        authentication: AuthenticationInfo | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["authentication"]) -> bool: ...
    def ClearField(self, field_name: Literal["id", "url", "token", "authentication"]) -> None: ...

class AuthenticationInfo(_Message):
    """Credentials for the receiver of a webhook."""
    @property
    def schemes(self) -> _Scalars[str]:
        """HTTP authentication schemes such as Bearer or Basic; the first one is used."""
    credentials: str
    """What follows the scheme in the Authorization header."""
    def __init__(
        self,
        *,
        schemes: Iterable[str] | None = ...,
        credentials: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["schemes", "credentials"]) -> None: ...

class TaskPushNotificationConfig(_Message):
    """A webhook and where it belongs."""
    name: str
    """Its resource name: tasks/{id}/pushNotificationConfigs/{id}."""
    @property
    def push_notification_config(self) -> PushNotificationConfig:
        """The webhook."""
    def __init__(
        self,
        *,
        name: str | None = ...,
        push_notification_config: PushNotificationConfig | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["push_notification_config"]) -> bool: ...
    def ClearField(self, field_name: Literal["name", "push_notification_config"]) -> None: ...

class AgentInterface(_Message):
    """One address of an agent."""
    url: str
    """The address: a URL, for GRPC also host:port."""
    transport: str
    """JSONRPC, GRPC, HTTP+JSON, or a name of another transport."""
    def __init__(
        self,
        *,
        url: str | None = ...,
        transport: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["url", "transport"]) -> None: ...

class AgentCard(_Message):
    """What an agent is, can do, and how to reach it."""
    name: str
    """A name for people."""
    description: str
    """What the agent is good for."""
    url: str
    """The main address, which speaks preferred_transport."""
    @property
    def provider(self) -> AgentProvider:
        """Who offers it."""
    version: str
    """The version of the agent itself."""
    documentation_url: str
    """Where to read more."""
    @property
    def capabilities(self) -> AgentCapabilities:
        """Which optional parts of the protocol it supports."""
    @property
    def security_schemes(self) -> _MessageMap[str, SecurityScheme]:
        """The ways to authenticate, by name."""
    @property
    def security(self) -> _Messages[Security]:
        """Which of them a caller must use: one of these entries suffices."""
    @property
    def default_input_modes(self) -> _Scalars[str]:
        """Media types every skill takes unless it says otherwise."""
    @property
    def default_output_modes(self) -> _Scalars[str]:
        """Media types every skill produces unless it says otherwise."""
    @property
    def skills(self) -> _Messages[AgentSkill]:
        """What it can do."""
    supports_authenticated_extended_card: bool
    """Whether there is a card for those who are signed in."""
    preferred_transport: str
    """What is spoken at url."""
    @property
    def additional_interfaces(self) -> _Messages[AgentInterface]:
        """All addresses, also the main one."""
    protocol_version: str
    """The version of the protocol, such as 0.3.0."""
    @property
    def signatures(self) -> _Messages[AgentCardSignature]:
        """Signatures over the canonical form of this card."""
    icon_url: str
    """A picture for people. Not in 0.3.0."""
    def __init__(
        self,
        *,
        name: str | None = ...,
        description: str | None = ...,
        url: str | None = ...,
        provider: AgentProvider | None = ...,
        version: str | None = ...,
        documentation_url: str | None = ...,
        capabilities: AgentCapabilities | None = ...,
        security_schemes: Mapping[str, SecurityScheme] | None = ...,
        security: Iterable[Security] | None = ...,
        default_input_modes: Iterable[str] | None = ...,
        default_output_modes: Iterable[str] | None = ...,
        skills: Iterable[AgentSkill] | None = ...,
        supports_authenticated_extended_card: bool | None = ...,
        preferred_transport: str | None = ...,
        additional_interfaces: Iterable[AgentInterface] | None = ...,
        protocol_version: str | None = ...,
        signatures: Iterable[AgentCardSignature] | None = ...,
        icon_url: str | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["provider", "capabilities"]) -> bool: ...
    def ClearField(self, field_name: Literal["name", "description", "url", "provider", "version", "documentation_url", "capabilities", "security_schemes", "security", "default_input_modes", "default_output_modes", "skills", "supports_authenticated_extended_card", "preferred_transport", "additional_interfaces", "protocol_version", "signatures", "icon_url"]) -> None: ...

class AgentProvider(_Message):
    """Who offers an agent."""
    url: str
    """Its website."""
    organization: str
    """Its name."""
    def __init__(
        self,
        *,
        url: str | None = ...,
        organization: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["url", "organization"]) -> None: ...

class AgentCapabilities(_Message):
    """The optional parts of the protocol that an agent supports."""
    streaming: bool
    """SendStreamingMessage and TaskSubscription."""
    push_notifications: bool
    """The four operations on webhooks, and their deliveries."""
    @property
    def extensions(self) -> _Messages[AgentExtension]:
        """Extensions of the protocol."""
    def __init__(
        self,
        *,
        streaming: bool | None = ...,
        push_notifications: bool | None = ...,
        extensions: Iterable[AgentExtension] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["streaming", "push_notifications", "extensions"]) -> None: ...

class AgentExtension(_Message):
    """An extension of the protocol that an agent offers."""
    uri: str
    """Its identity."""
    description: str
    """How the agent uses it."""
    required: bool
    """Whether a client must ask for it."""
    @property
    def params(self) -> Struct:
        """Settings that the extension defines."""
    def __init__(
        self,
        *,
        uri: str | None = ...,
        description: str | None = ...,
        required: bool | None = ...,
        params: Struct | Mapping[str, Any] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["params"]) -> bool: ...
    def ClearField(self, field_name: Literal["uri", "description", "required", "params"]) -> None: ...

class AgentSkill(_Message):
    """One thing an agent can do."""
    id: str
    """Unique within the agent."""
    name: str
    """A name for people."""
    description: str
    """What it does."""
    @property
    def tags(self) -> _Scalars[str]:
        """Words to find it by."""
    @property
    def examples(self) -> _Scalars[str]:
        """Things one may say to the agent."""
    @property
    def input_modes(self) -> _Scalars[str]:
        """Media types it takes, in place of the agent's."""
    @property
    def output_modes(self) -> _Scalars[str]:
        """Media types it produces, in place of the agent's."""
    @property
    def security(self) -> _Messages[Security]:
        """Who may use it: one of these entries suffices."""
    def __init__(
        self,
        *,
        id: str | None = ...,
        name: str | None = ...,
        description: str | None = ...,
        tags: Iterable[str] | None = ...,
        examples: Iterable[str] | None = ...,
        input_modes: Iterable[str] | None = ...,
        output_modes: Iterable[str] | None = ...,
        security: Iterable[Security] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["id", "name", "description", "tags", "examples", "input_modes", "output_modes", "security"]) -> None: ...

class AgentCardSignature(_Message):
    """A JSON Web Signature over the canonical form of a card, its payload detached."""
    protected: str
    """The protected header, base64url."""
    signature: str
    """The signature, base64url."""
    @property
    def header(self) -> Struct:
        """The unprotected header."""
    def __init__(
        self,
        *,
        protected: str | None = ...,
        signature: str | None = ...,
        header: Struct | Mapping[str, Any] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["header"]) -> bool: ...
    def ClearField(self, field_name: Literal["protected", "signature", "header"]) -> None: ...

class StringList(_Message):
    """A list of strings, for use as the value of a map."""
    @property
    def list(self) -> _Scalars[str]:
        """The strings."""
    def __init__(
        self,
        *,
        list: Iterable[str] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["list"]) -> None: ...

class Security(_Message):
    """Schemes that must all be satisfied together, by name, with the scopes needed of each."""
    @property
    def schemes(self) -> _MessageMap[str, StringList]:
        """Scopes by the name of the scheme."""
    def __init__(
        self,
        *,
        schemes: Mapping[str, StringList] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["schemes"]) -> None: ...

class SecurityScheme(_Message):
    """One way to authenticate: exactly one of the kinds."""
    @property
    def api_key_security_scheme(self) -> APIKeySecurityScheme:
        """A key in the query, a header or a cookie."""
    @property
    def http_auth_security_scheme(self) -> HTTPAuthSecurityScheme:
        """The Authorization header."""
    @property
    def oauth2_security_scheme(self) -> OAuth2SecurityScheme:
        """OAuth 2.0."""
    @property
    def open_id_connect_security_scheme(self) -> OpenIdConnectSecurityScheme:
        """OpenID Connect."""
    @property
    def mtls_security_scheme(self) -> MutualTlsSecurityScheme:
        """A client certificate."""
    def __init__(
        self,
        *,
        api_key_security_scheme: APIKeySecurityScheme | None = ...,
        http_auth_security_scheme: HTTPAuthSecurityScheme | None = ...,
        oauth2_security_scheme: OAuth2SecurityScheme | None = ...,
        open_id_connect_security_scheme: OpenIdConnectSecurityScheme | None = ...,
        mtls_security_scheme: MutualTlsSecurityScheme | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["api_key_security_scheme", "http_auth_security_scheme", "oauth2_security_scheme", "open_id_connect_security_scheme", "mtls_security_scheme", "scheme"]) -> bool: ...
    def ClearField(self, field_name: Literal["api_key_security_scheme", "http_auth_security_scheme", "oauth2_security_scheme", "open_id_connect_security_scheme", "mtls_security_scheme", "scheme"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["scheme"]) -> Literal["api_key_security_scheme", "http_auth_security_scheme", "oauth2_security_scheme", "open_id_connect_security_scheme", "mtls_security_scheme"] | None: ...

class APIKeySecurityScheme(_Message):
    """Authentication by a key."""
    description: str
    """For people."""
    location: str
    """Where the key goes: query, header or cookie."""
    name: str
    """The name of the parameter, header or cookie."""
    def __init__(
        self,
        *,
        description: str | None = ...,
        location: str | None = ...,
        name: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["description", "location", "name"]) -> None: ...

class HTTPAuthSecurityScheme(_Message):
    """Authentication by the Authorization header."""
    description: str
    """For people."""
    scheme: str
    """The scheme, such as Bearer."""
    bearer_format: str
    """What kind of token a Bearer token is, such as JWT."""
    def __init__(
        self,
        *,
        description: str | None = ...,
        scheme: str | None = ...,
        bearer_format: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["description", "scheme", "bearer_format"]) -> None: ...

class OAuth2SecurityScheme(_Message):
    """Authentication by OAuth 2.0."""
    description: str
    """For people."""
    @property
    def flows(self) -> OAuthFlows:
        """The flow to use."""
    oauth2_metadata_url: str
    """Where the metadata of the authorization server (RFC 8414) stands."""
    def __init__(
        self,
        *,
        description: str | None = ...,
        flows: OAuthFlows | None = ...,
        oauth2_metadata_url: str | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["flows"]) -> bool: ...
    def ClearField(self, field_name: Literal["description", "flows", "oauth2_metadata_url"]) -> None: ...

class OpenIdConnectSecurityScheme(_Message):
    """Authentication by OpenID Connect."""
    description: str
    """For people."""
    open_id_connect_url: str
    """Where the provider's discovery document stands."""
    def __init__(
        self,
        *,
        description: str | None = ...,
        open_id_connect_url: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["description", "open_id_connect_url"]) -> None: ...

class MutualTlsSecurityScheme(_Message):
    """Authentication by a client certificate."""
    description: str
    """For people."""
    def __init__(
        self,
        *,
        description: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["description"]) -> None: ...

class OAuthFlows(_Message):
    """The OAuth 2.0 flow of a scheme: exactly one."""
    @property
    def authorization_code(self) -> AuthorizationCodeOAuthFlow:
        """Authorization code."""
    @property
    def client_credentials(self) -> ClientCredentialsOAuthFlow:
        """Client credentials."""
    @property
    def implicit(self) -> ImplicitOAuthFlow:
        """Implicit."""
    @property
    def password(self) -> PasswordOAuthFlow:
        """The user's password."""
    def __init__(
        self,
        *,
        authorization_code: AuthorizationCodeOAuthFlow | None = ...,
        client_credentials: ClientCredentialsOAuthFlow | None = ...,
        implicit: ImplicitOAuthFlow | None = ...,
        password: PasswordOAuthFlow | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["authorization_code", "client_credentials", "implicit", "password", "flow"]) -> bool: ...
    def ClearField(self, field_name: Literal["authorization_code", "client_credentials", "implicit", "password", "flow"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["flow"]) -> Literal["authorization_code", "client_credentials", "implicit", "password"] | None: ...

class AuthorizationCodeOAuthFlow(_Message):
    """OAuth 2.0 with an authorization code."""
    authorization_url: str
    """Where the user is asked."""
    token_url: str
    """Where the code becomes a token."""
    refresh_url: str
    """Where a token is renewed."""
    @property
    def scopes(self) -> _ScalarMap[str, str]:
        """What each scope allows, by the name of the scope."""
    def __init__(
        self,
        *,
        authorization_url: str | None = ...,
        token_url: str | None = ...,
        refresh_url: str | None = ...,
        scopes: Mapping[str, str] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["authorization_url", "token_url", "refresh_url", "scopes"]) -> None: ...

class ClientCredentialsOAuthFlow(_Message):
    """OAuth 2.0 with the client's own credentials."""
    token_url: str
    """Where a token is to be had."""
    refresh_url: str
    """Where a token is renewed."""
    @property
    def scopes(self) -> _ScalarMap[str, str]:
        """What each scope allows, by the name of the scope."""
    def __init__(
        self,
        *,
        token_url: str | None = ...,
        refresh_url: str | None = ...,
        scopes: Mapping[str, str] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["token_url", "refresh_url", "scopes"]) -> None: ...

class ImplicitOAuthFlow(_Message):
    """OAuth 2.0 with a token in the redirect."""
    authorization_url: str
    """Where the user is asked."""
    refresh_url: str
    """Where a token is renewed."""
    @property
    def scopes(self) -> _ScalarMap[str, str]:
        """What each scope allows, by the name of the scope."""
    def __init__(
        self,
        *,
        authorization_url: str | None = ...,
        refresh_url: str | None = ...,
        scopes: Mapping[str, str] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["authorization_url", "refresh_url", "scopes"]) -> None: ...

class PasswordOAuthFlow(_Message):
    """OAuth 2.0 with the user's password."""
    token_url: str
    """Where a token is to be had."""
    refresh_url: str
    """Where a token is renewed."""
    @property
    def scopes(self) -> _ScalarMap[str, str]:
        """What each scope allows, by the name of the scope."""
    def __init__(
        self,
        *,
        token_url: str | None = ...,
        refresh_url: str | None = ...,
        scopes: Mapping[str, str] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["token_url", "refresh_url", "scopes"]) -> None: ...

class SendMessageRequest(_Message):
    """Asks for SendMessage and SendStreamingMessage."""
    @property
    def request(self) -> Message:
        """What to hand to the agent."""
    @property
    def configuration(self) -> SendMessageConfiguration:
        """How to answer. Without it: when the task ends or waits for the client."""
    @property
    def metadata(self) -> Struct:
        """Further data of the request, by agreement or extension."""
    def __init__(
        self,
        *,
        request: Message | None = ...,
        configuration: SendMessageConfiguration | None = ...,
        metadata: Struct | Mapping[str, Any] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["request", "configuration", "metadata"]) -> bool: ...
    def ClearField(self, field_name: Literal["request", "configuration", "metadata"]) -> None: ...

class GetTaskRequest(_Message):
    """Asks for GetTask."""
    name: str
    """The task: tasks/{id}."""
    history_length: int
    """The most messages of the history to send back, the latest ones. 0: as many as the agent likes."""
    def __init__(
        self,
        *,
        name: str | None = ...,
        history_length: int | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["name", "history_length"]) -> None: ...

class CancelTaskRequest(_Message):
    """Asks for CancelTask."""
    name: str
    """The task: tasks/{id}."""
    def __init__(
        self,
        *,
        name: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["name"]) -> None: ...

class GetTaskPushNotificationConfigRequest(_Message):
    """Asks for GetTaskPushNotificationConfig."""
    name: str
    """The webhook: tasks/{id}/pushNotificationConfigs/{id}."""
    def __init__(
        self,
        *,
        name: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["name"]) -> None: ...

class DeleteTaskPushNotificationConfigRequest(_Message):
    """Asks for DeleteTaskPushNotificationConfig."""
    name: str
    """The webhook: tasks/{id}/pushNotificationConfigs/{id}."""
    def __init__(
        self,
        *,
        name: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["name"]) -> None: ...

class CreateTaskPushNotificationConfigRequest(_Message):
    """Asks for CreateTaskPushNotificationConfig."""
    parent: str
    """The task: tasks/{id}."""
    config_id: str
    """The id of the new webhook, where the config itself has none."""
    @property
    def config(self) -> TaskPushNotificationConfig:
        """The webhook."""
    def __init__(
        self,
        *,
        parent: str | None = ...,
        config_id: str | None = ...,
        config: TaskPushNotificationConfig | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["config"]) -> bool: ...
    def ClearField(self, field_name: Literal["parent", "config_id", "config"]) -> None: ...

class TaskSubscriptionRequest(_Message):
    """Asks for TaskSubscription."""
    name: str
    """The task: tasks/{id}."""
    def __init__(
        self,
        *,
        name: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["name"]) -> None: ...

class ListTaskPushNotificationConfigRequest(_Message):
    """Asks for ListTaskPushNotificationConfig."""
    parent: str
    """The task: tasks/{id}."""
    page_size: int
    """The most webhooks to send back."""
    page_token: str
    """next_page_token of the page before."""
    def __init__(
        self,
        *,
        parent: str | None = ...,
        page_size: int | None = ...,
        page_token: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["parent", "page_size", "page_token"]) -> None: ...

class GetAgentCardRequest(_Message):
    """Asks for GetAgentCard."""
    def __init__(
        self,
    ) -> None: ...

class SendMessageResponse(_Message):
    """The answer to SendMessage: exactly one of the two."""
    @property
    def task(self) -> Task:
        """The task that was begun or continued."""
    @property
    def msg(self) -> Message:
        """An answer without a task."""
    def __init__(
        self,
        *,
        task: Task | None = ...,
        msg: Message | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["task", "msg", "payload"]) -> bool: ...
    def ClearField(self, field_name: Literal["task", "msg", "payload"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["payload"]) -> Literal["task", "msg"] | None: ...

class StreamResponse(_Message):
    """One event of a stream: exactly one of the four."""
    @property
    def task(self) -> Task:
        """The task as it stands."""
    @property
    def msg(self) -> Message:
        """An answer without a task."""
    @property
    def status_update(self) -> TaskStatusUpdateEvent:
        """A new status."""
    @property
    def artifact_update(self) -> TaskArtifactUpdateEvent:
        """An artifact or a chunk of one."""
    def __init__(
        self,
        *,
        task: Task | None = ...,
        msg: Message | None = ...,
        status_update: TaskStatusUpdateEvent | None = ...,
        artifact_update: TaskArtifactUpdateEvent | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["task", "msg", "status_update", "artifact_update", "payload"]) -> bool: ...
    def ClearField(self, field_name: Literal["task", "msg", "status_update", "artifact_update", "payload"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["payload"]) -> Literal["task", "msg", "status_update", "artifact_update"] | None: ...

class ListTaskPushNotificationConfigResponse(_Message):
    """The answer to ListTaskPushNotificationConfig."""
    @property
    def configs(self) -> _Messages[TaskPushNotificationConfig]:
        """The webhooks of this page."""
    next_page_token: str
    """What to ask for the next page with; empty on the last one."""
    def __init__(
        self,
        *,
        configs: Iterable[TaskPushNotificationConfig] | None = ...,
        next_page_token: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["configs", "next_page_token"]) -> None: ...
