"""Generated from proto/a2a.proto by `python proto/generate.py`; do not edit.

The messages and enums of lf.a2a.v1, in the private descriptor pool of a2a_django/protocol/pool.py. The well-known types
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
    """Unknown; never sent. As a filter of ListTasks: any state."""
    TASK_STATE_SUBMITTED: TaskState
    """Accepted, not begun."""
    TASK_STATE_WORKING: TaskState
    """The agent is at it."""
    TASK_STATE_COMPLETED: TaskState
    """Ended as wished."""
    TASK_STATE_FAILED: TaskState
    """Ended by an error."""
    TASK_STATE_CANCELED: TaskState
    """Ended because the client asked for it."""
    TASK_STATE_INPUT_REQUIRED: TaskState
    """Waits for a further message of the client."""
    TASK_STATE_REJECTED: TaskState
    """Ended: the agent does not want this task."""
    TASK_STATE_AUTH_REQUIRED: TaskState
    """Waits for credentials that the client must provide."""

class TaskState(int, metaclass=_TaskStateWrapper):
    """Where a task stands."""

TASK_STATE_UNSPECIFIED: TaskState
"""Unknown; never sent. As a filter of ListTasks: any state."""
TASK_STATE_SUBMITTED: TaskState
"""Accepted, not begun."""
TASK_STATE_WORKING: TaskState
"""The agent is at it."""
TASK_STATE_COMPLETED: TaskState
"""Ended as wished."""
TASK_STATE_FAILED: TaskState
"""Ended by an error."""
TASK_STATE_CANCELED: TaskState
"""Ended because the client asked for it."""
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
    def message(self) -> Message:
        """What the agent says about it."""
    @property
    def timestamp(self) -> Timestamp:
        """When the task came into this state."""
    def __init__(
        self,
        *,
        state: TaskState | str | None = ...,
        message: Message | None = ...,
        timestamp: Timestamp | _datetime | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["message", "timestamp"]) -> bool: ...
    def ClearField(self, field_name: Literal["state", "message", "timestamp"]) -> None: ...

class Part(_Message):
    """A piece of content: exactly one of text, raw, url, data."""
    text: str
    """Plain text."""
    raw: bytes
    """The bytes of a file (base64 in JSON)."""
    url: str
    """Where a file can be had."""
    @property
    def data(self) -> Value:
        """Any JSON value, null included."""
    @property
    def metadata(self) -> Struct:
        """Further data about this part."""
    filename: str
    """The name of the file, for people."""
    media_type: str
    """The media type of the content, for all four kinds."""
    def __init__(
        self,
        *,
        text: str | None = ...,
        raw: bytes | None = ...,
        url: str | None = ...,
        data: Value | None = ...,
        metadata: Struct | Mapping[str, Any] | None = ...,
        filename: str | None = ...,
        media_type: str | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["text", "raw", "url", "data", "metadata", "content"]) -> bool: ...
    def ClearField(self, field_name: Literal["text", "raw", "url", "data", "metadata", "filename", "media_type", "content"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["content"]) -> Literal["text", "raw", "url", "data"] | None: ...

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
    def parts(self) -> _Messages[Part]:
        """The content, at least one part."""
    @property
    def metadata(self) -> Struct:
        """Further data of the message, by agreement or extension."""
    @property
    def extensions(self) -> _Scalars[str]:
        """URIs of the extensions that shaped this message."""
    @property
    def reference_task_ids(self) -> _Scalars[str]:
        """Other tasks the message refers to."""
    def __init__(
        self,
        *,
        message_id: str | None = ...,
        context_id: str | None = ...,
        task_id: str | None = ...,
        role: Role | str | None = ...,
        parts: Iterable[Part] | None = ...,
        metadata: Struct | Mapping[str, Any] | None = ...,
        extensions: Iterable[str] | None = ...,
        reference_task_ids: Iterable[str] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["metadata"]) -> bool: ...
    def ClearField(self, field_name: Literal["message_id", "context_id", "task_id", "role", "parts", "metadata", "extensions", "reference_task_ids"]) -> None: ...

class Artifact(_Message):
    """Something a task has produced."""
    artifact_id: str
    """Unique within the task."""
    name: str
    """A name for people."""
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
    @property
    def metadata(self) -> Struct:
        """Further data of the event."""
    def __init__(
        self,
        *,
        task_id: str | None = ...,
        context_id: str | None = ...,
        status: TaskStatus | None = ...,
        metadata: Struct | Mapping[str, Any] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["status", "metadata"]) -> bool: ...
    def ClearField(self, field_name: Literal["task_id", "context_id", "status", "metadata"]) -> None: ...

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

class TaskPushNotificationConfig(_Message):
    """A webhook that is told what happens to a task."""
    tenant: str
    """The tenant, where the agent is one of several."""
    id: str
    """Unique within the task; chosen by the agent when empty."""
    task_id: str
    """The task."""
    url: str
    """Where to POST the events."""
    token: str
    """Sent along with each event, for the receiver to check."""
    @property
    def authentication(self) -> AuthenticationInfo:
        """How the agent proves itself to the receiver."""
    def __init__(
        self,
        *,
        tenant: str | None = ...,
        id: str | None = ...,
        task_id: str | None = ...,
        url: str | None = ...,
        token: str | None = ...,
        authentication: AuthenticationInfo | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["authentication"]) -> bool: ...
    def ClearField(self, field_name: Literal["tenant", "id", "task_id", "url", "token", "authentication"]) -> None: ...

class AuthenticationInfo(_Message):
    """Credentials for the receiver of a webhook."""
    scheme: str
    """An HTTP authentication scheme such as Bearer or Basic."""
    credentials: str
    """What follows the scheme in the Authorization header."""
    def __init__(
        self,
        *,
        scheme: str | None = ...,
        credentials: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["scheme", "credentials"]) -> None: ...

class AgentCard(_Message):
    """What an agent is, can do, and how to reach it."""
    name: str
    """A name for people."""
    description: str
    """What the agent is good for."""
    @property
    def supported_interfaces(self) -> _Messages[AgentInterface]:
        """Where it speaks which binding, the preferred one first."""
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
    def security_requirements(self) -> _Messages[SecurityRequirement]:
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
    @property
    def signatures(self) -> _Messages[AgentCardSignature]:
        """Signatures over the canonical form of this card."""
    icon_url: str
    """A picture for people."""
    def __init__(
        self,
        *,
        name: str | None = ...,
        description: str | None = ...,
        supported_interfaces: Iterable[AgentInterface] | None = ...,
        provider: AgentProvider | None = ...,
        version: str | None = ...,
        documentation_url: str | None = ...,
        capabilities: AgentCapabilities | None = ...,
        security_schemes: Mapping[str, SecurityScheme] | None = ...,
        security_requirements: Iterable[SecurityRequirement] | None = ...,
        default_input_modes: Iterable[str] | None = ...,
        default_output_modes: Iterable[str] | None = ...,
        skills: Iterable[AgentSkill] | None = ...,
        signatures: Iterable[AgentCardSignature] | None = ...,
        icon_url: str | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["provider", "documentation_url", "capabilities", "icon_url"]) -> bool: ...
    def ClearField(self, field_name: Literal["name", "description", "supported_interfaces", "provider", "version", "documentation_url", "capabilities", "security_schemes", "security_requirements", "default_input_modes", "default_output_modes", "skills", "signatures", "icon_url"]) -> None: ...

class AgentInterface(_Message):
    """One address of an agent."""
    url: str
    """The address: a URL, for GRPC also host:port."""
    protocol_binding: str
    """JSONRPC, GRPC, HTTP+JSON, or the URI of another binding."""
    tenant: str
    """The tenant to name in every request to this address."""
    protocol_version: str
    """Major.minor of the protocol spoken here, such as 1.0."""
    def __init__(
        self,
        *,
        url: str | None = ...,
        protocol_binding: str | None = ...,
        tenant: str | None = ...,
        protocol_version: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["url", "protocol_binding", "tenant", "protocol_version"]) -> None: ...

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
    """SendStreamingMessage and SubscribeToTask."""
    push_notifications: bool
    """The four operations on webhooks, and their deliveries."""
    @property
    def extensions(self) -> _Messages[AgentExtension]:
        """Extensions of the protocol."""
    extended_agent_card: bool
    """GetExtendedAgentCard."""
    def __init__(
        self,
        *,
        streaming: bool | None = ...,
        push_notifications: bool | None = ...,
        extensions: Iterable[AgentExtension] | None = ...,
        extended_agent_card: bool | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["streaming", "push_notifications", "extended_agent_card"]) -> bool: ...
    def ClearField(self, field_name: Literal["streaming", "push_notifications", "extensions", "extended_agent_card"]) -> None: ...

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
    def security_requirements(self) -> _Messages[SecurityRequirement]:
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
        security_requirements: Iterable[SecurityRequirement] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["id", "name", "description", "tags", "examples", "input_modes", "output_modes", "security_requirements"]) -> None: ...

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

class SecurityRequirement(_Message):
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
        """Implicit: given up by OAuth 2.1, use authorization_code with PKCE."""
    @property
    def password(self) -> PasswordOAuthFlow:
        """Password: given up by OAuth 2.1, use authorization_code with PKCE or device_code."""
    @property
    def device_code(self) -> DeviceCodeOAuthFlow:
        """Device code (RFC 8628)."""
    def __init__(
        self,
        *,
        authorization_code: AuthorizationCodeOAuthFlow | None = ...,
        client_credentials: ClientCredentialsOAuthFlow | None = ...,
        implicit: ImplicitOAuthFlow | None = ...,
        password: PasswordOAuthFlow | None = ...,
        device_code: DeviceCodeOAuthFlow | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["authorization_code", "client_credentials", "implicit", "password", "device_code", "flow"]) -> bool: ...
    def ClearField(self, field_name: Literal["authorization_code", "client_credentials", "implicit", "password", "device_code", "flow"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["flow"]) -> Literal["authorization_code", "client_credentials", "implicit", "password", "device_code"] | None: ...

class AuthorizationCodeOAuthFlow(_Message):
    """The authorization code flow."""
    authorization_url: str
    """The authorization endpoint."""
    token_url: str
    """The token endpoint."""
    refresh_url: str
    """Where to refresh a token."""
    @property
    def scopes(self) -> _ScalarMap[str, str]:
        """What each scope means, by its name."""
    pkce_required: bool
    """Whether PKCE (RFC 7636) must be used."""
    def __init__(
        self,
        *,
        authorization_url: str | None = ...,
        token_url: str | None = ...,
        refresh_url: str | None = ...,
        scopes: Mapping[str, str] | None = ...,
        pkce_required: bool | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["authorization_url", "token_url", "refresh_url", "scopes", "pkce_required"]) -> None: ...

class ClientCredentialsOAuthFlow(_Message):
    """The client credentials flow."""
    token_url: str
    """The token endpoint."""
    refresh_url: str
    """Where to refresh a token."""
    @property
    def scopes(self) -> _ScalarMap[str, str]:
        """What each scope means, by its name."""
    def __init__(
        self,
        *,
        token_url: str | None = ...,
        refresh_url: str | None = ...,
        scopes: Mapping[str, str] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["token_url", "refresh_url", "scopes"]) -> None: ...

class ImplicitOAuthFlow(_Message):
    """The implicit flow, deprecated."""
    authorization_url: str
    """The authorization endpoint."""
    refresh_url: str
    """Where to refresh a token."""
    @property
    def scopes(self) -> _ScalarMap[str, str]:
        """What each scope means, by its name."""
    def __init__(
        self,
        *,
        authorization_url: str | None = ...,
        refresh_url: str | None = ...,
        scopes: Mapping[str, str] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["authorization_url", "refresh_url", "scopes"]) -> None: ...

class PasswordOAuthFlow(_Message):
    """The password flow, deprecated."""
    token_url: str
    """The token endpoint."""
    refresh_url: str
    """Where to refresh a token."""
    @property
    def scopes(self) -> _ScalarMap[str, str]:
        """What each scope means, by its name."""
    def __init__(
        self,
        *,
        token_url: str | None = ...,
        refresh_url: str | None = ...,
        scopes: Mapping[str, str] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["token_url", "refresh_url", "scopes"]) -> None: ...

class DeviceCodeOAuthFlow(_Message):
    """The device code flow."""
    device_authorization_url: str
    """The device authorization endpoint."""
    token_url: str
    """The token endpoint."""
    refresh_url: str
    """Where to refresh a token."""
    @property
    def scopes(self) -> _ScalarMap[str, str]:
        """What each scope means, by its name."""
    def __init__(
        self,
        *,
        device_authorization_url: str | None = ...,
        token_url: str | None = ...,
        refresh_url: str | None = ...,
        scopes: Mapping[str, str] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["device_authorization_url", "token_url", "refresh_url", "scopes"]) -> None: ...

class SendMessageRequest(_Message):
    """Asks for SendMessage or SendStreamingMessage."""
    tenant: str
    """The tenant, where the agent is one of several."""
    @property
    def message(self) -> Message:
        """What to hand to the agent."""
    @property
    def configuration(self) -> SendMessageConfiguration:
        """How to answer."""
    @property
    def metadata(self) -> Struct:
        """Further data of the request, by agreement or extension."""
    def __init__(
        self,
        *,
        tenant: str | None = ...,
        message: Message | None = ...,
        configuration: SendMessageConfiguration | None = ...,
        metadata: Struct | Mapping[str, Any] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["message", "configuration", "metadata"]) -> bool: ...
    def ClearField(self, field_name: Literal["tenant", "message", "configuration", "metadata"]) -> None: ...

class SendMessageConfiguration(_Message):
    """How a message is to be answered."""
    @property
    def accepted_output_modes(self) -> _Scalars[str]:
        """Media types the client can use; empty: any."""
    @property
    def task_push_notification_config(self) -> TaskPushNotificationConfig:
        """A webhook to register for the task."""
    history_length: int
    """The most messages of the history to send back, the latest ones. 0: none; not given: as many as the agent likes."""
    return_immediately: bool
    """Answer as soon as the task exists, instead of when it ends or waits for the client."""
    def __init__(
        self,
        *,
        accepted_output_modes: Iterable[str] | None = ...,
        task_push_notification_config: TaskPushNotificationConfig | None = ...,
        history_length: int | None = ...,
        return_immediately: bool | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["task_push_notification_config", "history_length"]) -> bool: ...
    def ClearField(self, field_name: Literal["accepted_output_modes", "task_push_notification_config", "history_length", "return_immediately"]) -> None: ...

class SendMessageResponse(_Message):
    """The answer to SendMessage: exactly one of the two."""
    @property
    def task(self) -> Task:
        """The task that was begun or continued."""
    @property
    def message(self) -> Message:
        """An answer without a task."""
    def __init__(
        self,
        *,
        task: Task | None = ...,
        message: Message | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["task", "message", "payload"]) -> bool: ...
    def ClearField(self, field_name: Literal["task", "message", "payload"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["payload"]) -> Literal["task", "message"] | None: ...

class StreamResponse(_Message):
    """One event of a stream, also the body of a webhook call: exactly one of the four."""
    @property
    def task(self) -> Task:
        """The task as it stands."""
    @property
    def message(self) -> Message:
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
        message: Message | None = ...,
        status_update: TaskStatusUpdateEvent | None = ...,
        artifact_update: TaskArtifactUpdateEvent | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["task", "message", "status_update", "artifact_update", "payload"]) -> bool: ...
    def ClearField(self, field_name: Literal["task", "message", "status_update", "artifact_update", "payload"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["payload"]) -> Literal["task", "message", "status_update", "artifact_update"] | None: ...

class GetTaskRequest(_Message):
    """Asks for GetTask."""
    tenant: str
    """The tenant, where the agent is one of several."""
    id: str
    """The task."""
    history_length: int
    """The most messages of the history to send back, the latest ones. 0: none; not given: as many as the agent likes."""
    def __init__(
        self,
        *,
        tenant: str | None = ...,
        id: str | None = ...,
        history_length: int | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["history_length"]) -> bool: ...
    def ClearField(self, field_name: Literal["tenant", "id", "history_length"]) -> None: ...

class ListTasksRequest(_Message):
    """Asks for ListTasks."""
    tenant: str
    """The tenant, where the agent is one of several."""
    context_id: str
    """Only tasks of this conversation."""
    status: TaskState
    """Only tasks in this state."""
    page_size: int
    """The most tasks to send back."""
    page_token: str
    """next_page_token of the page before."""
    history_length: int
    """The most messages of each history to send back, the latest ones. 0: none; not given: as many as the agent likes."""
    @property
    def status_timestamp_after(self) -> Timestamp:
        """Only tasks whose status is not older than this."""
    include_artifacts: bool
    """Whether to send the artifacts along."""
    def __init__(
        self,
        *,
        tenant: str | None = ...,
        context_id: str | None = ...,
        status: TaskState | str | None = ...,
        page_size: int | None = ...,
        page_token: str | None = ...,
        history_length: int | None = ...,
        status_timestamp_after: Timestamp | _datetime | None = ...,
        include_artifacts: bool | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["page_size", "history_length", "status_timestamp_after", "include_artifacts"]) -> bool: ...
    def ClearField(self, field_name: Literal["tenant", "context_id", "status", "page_size", "page_token", "history_length", "status_timestamp_after", "include_artifacts"]) -> None: ...

class ListTasksResponse(_Message):
    """The answer to ListTasks."""
    @property
    def tasks(self) -> _Messages[Task]:
        """The tasks of this page."""
    next_page_token: str
    """What to ask for the next page with; empty on the last one."""
    page_size: int
    """The page size that was used."""
    total_size: int
    """How many tasks there are on all pages."""
    def __init__(
        self,
        *,
        tasks: Iterable[Task] | None = ...,
        next_page_token: str | None = ...,
        page_size: int | None = ...,
        total_size: int | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["tasks", "next_page_token", "page_size", "total_size"]) -> None: ...

class CancelTaskRequest(_Message):
    """Asks for CancelTask."""
    tenant: str
    """The tenant, where the agent is one of several."""
    id: str
    """The task."""
    @property
    def metadata(self) -> Struct:
        """Further data of the request, by agreement or extension."""
    def __init__(
        self,
        *,
        tenant: str | None = ...,
        id: str | None = ...,
        metadata: Struct | Mapping[str, Any] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["metadata"]) -> bool: ...
    def ClearField(self, field_name: Literal["tenant", "id", "metadata"]) -> None: ...

class SubscribeToTaskRequest(_Message):
    """Asks for SubscribeToTask."""
    tenant: str
    """The tenant, where the agent is one of several."""
    id: str
    """The task."""
    def __init__(
        self,
        *,
        tenant: str | None = ...,
        id: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["tenant", "id"]) -> None: ...

class GetTaskPushNotificationConfigRequest(_Message):
    """Asks for GetTaskPushNotificationConfig."""
    tenant: str
    """The tenant, where the agent is one of several."""
    task_id: str
    """The task."""
    id: str
    """The webhook."""
    def __init__(
        self,
        *,
        tenant: str | None = ...,
        task_id: str | None = ...,
        id: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["tenant", "task_id", "id"]) -> None: ...

class ListTaskPushNotificationConfigsRequest(_Message):
    """Asks for ListTaskPushNotificationConfigs. The tenant has number 4 here, unlike everywhere else."""
    task_id: str
    """The task."""
    page_size: int
    """The most webhooks to send back."""
    page_token: str
    """next_page_token of the page before."""
    tenant: str
    """The tenant, where the agent is one of several."""
    def __init__(
        self,
        *,
        task_id: str | None = ...,
        page_size: int | None = ...,
        page_token: str | None = ...,
        tenant: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["task_id", "page_size", "page_token", "tenant"]) -> None: ...

class ListTaskPushNotificationConfigsResponse(_Message):
    """The answer to ListTaskPushNotificationConfigs."""
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

class DeleteTaskPushNotificationConfigRequest(_Message):
    """Asks for DeleteTaskPushNotificationConfig."""
    tenant: str
    """The tenant, where the agent is one of several."""
    task_id: str
    """The task."""
    id: str
    """The webhook."""
    def __init__(
        self,
        *,
        tenant: str | None = ...,
        task_id: str | None = ...,
        id: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["tenant", "task_id", "id"]) -> None: ...

class GetExtendedAgentCardRequest(_Message):
    """Asks for GetExtendedAgentCard."""
    tenant: str
    """The tenant, where the agent is one of several."""
    def __init__(
        self,
        *,
        tenant: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["tenant"]) -> None: ...
