"""Generated from proto/a2a_v0_3.proto by `python proto/generate.py`; do not edit.

The messages and enums of a2a.v1, in the private descriptor pool of a2a_django/protocol/pool.py.
"""

from __future__ import annotations

from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper as _EnumTypeWrapper

from a2a_django.protocol import pool as _pool

POOL = _pool.POOL
DESCRIPTOR = _pool.load(
    b"\x0a\x0ea2a_v0_3.proto\x12\x06a2a.v1\x1a\x1cgoogle/api/annotations.proto\x1a\x17google/api/client.proto\x1a\x1fgo"
    b"ogle/api/field_behavior.proto\x1a\x1bgoogle/protobuf/empty.proto\x1a\x1cgoogle/protobuf/struct.proto\x1a\x1fgoogl"
    b"e/protobuf/timestamp.proto\"\xde\x01\x0a\x18SendMessageConfiguration\x122\x0a\x15accepted_output_modes\x18\x01 "
    b"\x03(\x09R\x13acceptedOutputModes\x12K\x0a\x11push_notification\x18\x02 \x01(\x0b2\x1e.a2a.v1.PushNotificationCon"
    b"figR\x10pushNotification\x12%\x0a\x0ehistory_length\x18\x03 \x01(\x05R\x0dhistoryLength\x12\x1a\x0a\x08blocking"
    b"\x18\x04 \x01(\x08R\x08blocking\"\xf1\x01\x0a\x04Task\x12\x0e\x0a\x02id\x18\x01 \x01(\x09R\x02id\x12\x1d\x0a\x0ac"
    b"ontext_id\x18\x02 \x01(\x09R\x09contextId\x12*\x0a\x06status\x18\x03 \x01(\x0b2\x12.a2a.v1.TaskStatusR\x06status"
    b"\x12.\x0a\x09artifacts\x18\x04 \x03(\x0b2\x10.a2a.v1.ArtifactR\x09artifacts\x12)\x0a\x07history\x18\x05 \x03(\x0b"
    b"2\x0f.a2a.v1.MessageR\x07history\x123\x0a\x08metadata\x18\x06 \x01(\x0b2\x17.google.protobuf.StructR\x08metadata"
    b"\"\x99\x01\x0a\x0aTaskStatus\x12'\x0a\x05state\x18\x01 \x01(\x0e2\x11.a2a.v1.TaskStateR\x05state\x12(\x0a\x06upda"
    b"te\x18\x02 \x01(\x0b2\x0f.a2a.v1.MessageR\x07message\x128\x0a\x09timestamp\x18\x03 \x01(\x0b2\x1a.google.protobuf"
    b".TimestampR\x09timestamp\"\xa9\x01\x0a\x04Part\x12\x14\x0a\x04text\x18\x01 \x01(\x09H\x00R\x04text\x12&\x0a\x04fi"
    b"le\x18\x02 \x01(\x0b2\x10.a2a.v1.FilePartH\x00R\x04file\x12&\x0a\x04data\x18\x03 \x01(\x0b2\x10.a2a.v1.DataPartH"
    b"\x00R\x04data\x123\x0a\x08metadata\x18\x04 \x01(\x0b2\x17.google.protobuf.StructR\x08metadataB\x06\x0a\x04part\""
    b"\x93\x01\x0a\x08FilePart\x12$\x0a\x0dfile_with_uri\x18\x01 \x01(\x09H\x00R\x0bfileWithUri\x12(\x0a\x0ffile_with_b"
    b"ytes\x18\x02 \x01(\x0cH\x00R\x0dfileWithBytes\x12\x1b\x0a\x09mime_type\x18\x03 \x01(\x09R\x08mimeType\x12\x12\x0a"
    b"\x04name\x18\x04 \x01(\x09R\x04nameB\x06\x0a\x04file\"7\x0a\x08DataPart\x12+\x0a\x04data\x18\x01 \x01(\x0b2\x17.g"
    b"oogle.protobuf.StructR\x04data\"\xff\x01\x0a\x07Message\x12\x1d\x0a\x0amessage_id\x18\x01 \x01(\x09R\x09messageId"
    b"\x12\x1d\x0a\x0acontext_id\x18\x02 \x01(\x09R\x09contextId\x12\x17\x0a\x07task_id\x18\x03 \x01(\x09R\x06taskId"
    b"\x12 \x0a\x04role\x18\x04 \x01(\x0e2\x0c.a2a.v1.RoleR\x04role\x12&\x0a\x07content\x18\x05 \x03(\x0b2\x0c.a2a.v1.P"
    b"artR\x07content\x123\x0a\x08metadata\x18\x06 \x01(\x0b2\x17.google.protobuf.StructR\x08metadata\x12\x1e\x0a\x0aex"
    b"tensions\x18\x07 \x03(\x09R\x0aextensions\"\xda\x01\x0a\x08Artifact\x12\x1f\x0a\x0bartifact_id\x18\x01 \x01(\x09R"
    b"\x0aartifactId\x12\x12\x0a\x04name\x18\x03 \x01(\x09R\x04name\x12 \x0a\x0bdescription\x18\x04 \x01(\x09R\x0bdescr"
    b"iption\x12\"\x0a\x05parts\x18\x05 \x03(\x0b2\x0c.a2a.v1.PartR\x05parts\x123\x0a\x08metadata\x18\x06 \x01(\x0b2"
    b"\x17.google.protobuf.StructR\x08metadata\x12\x1e\x0a\x0aextensions\x18\x07 \x03(\x09R\x0aextensions\"\xc6\x01\x0a"
    b"\x15TaskStatusUpdateEvent\x12\x17\x0a\x07task_id\x18\x01 \x01(\x09R\x06taskId\x12\x1d\x0a\x0acontext_id\x18\x02 "
    b"\x01(\x09R\x09contextId\x12*\x0a\x06status\x18\x03 \x01(\x0b2\x12.a2a.v1.TaskStatusR\x06status\x12\x14\x0a\x05fin"
    b"al\x18\x04 \x01(\x08R\x05final\x123\x0a\x08metadata\x18\x05 \x01(\x0b2\x17.google.protobuf.StructR\x08metadata\""
    b"\xeb\x01\x0a\x17TaskArtifactUpdateEvent\x12\x17\x0a\x07task_id\x18\x01 \x01(\x09R\x06taskId\x12\x1d\x0a\x0acontex"
    b"t_id\x18\x02 \x01(\x09R\x09contextId\x12,\x0a\x08artifact\x18\x03 \x01(\x0b2\x10.a2a.v1.ArtifactR\x08artifact\x12"
    b"\x16\x0a\x06append\x18\x04 \x01(\x08R\x06append\x12\x1d\x0a\x0alast_chunk\x18\x05 \x01(\x08R\x09lastChunk\x123"
    b"\x0a\x08metadata\x18\x06 \x01(\x0b2\x17.google.protobuf.StructR\x08metadata\"\x94\x01\x0a\x16PushNotificationConf"
    b"ig\x12\x0e\x0a\x02id\x18\x01 \x01(\x09R\x02id\x12\x10\x0a\x03url\x18\x02 \x01(\x09R\x03url\x12\x14\x0a\x05token"
    b"\x18\x03 \x01(\x09R\x05token\x12B\x0a\x0eauthentication\x18\x04 \x01(\x0b2\x1a.a2a.v1.AuthenticationInfoR\x0eauth"
    b"entication\"P\x0a\x12AuthenticationInfo\x12\x18\x0a\x07schemes\x18\x01 \x03(\x09R\x07schemes\x12 \x0a\x0bcredenti"
    b"als\x18\x02 \x01(\x09R\x0bcredentials\"\x8a\x01\x0a\x1aTaskPushNotificationConfig\x12\x12\x0a\x04name\x18\x01 "
    b"\x01(\x09R\x04name\x12X\x0a\x18push_notification_config\x18\x02 \x01(\x0b2\x1e.a2a.v1.PushNotificationConfigR\x16"
    b"pushNotificationConfig\"@\x0a\x0eAgentInterface\x12\x10\x0a\x03url\x18\x01 \x01(\x09R\x03url\x12\x1c\x0a\x09trans"
    b"port\x18\x02 \x01(\x09R\x09transport\"\xc8\x07\x0a\x09AgentCard\x12\x12\x0a\x04name\x18\x01 \x01(\x09R\x04name"
    b"\x12 \x0a\x0bdescription\x18\x02 \x01(\x09R\x0bdescription\x12\x10\x0a\x03url\x18\x03 \x01(\x09R\x03url\x121\x0a"
    b"\x08provider\x18\x04 \x01(\x0b2\x15.a2a.v1.AgentProviderR\x08provider\x12\x18\x0a\x07version\x18\x05 \x01(\x09R"
    b"\x07version\x12+\x0a\x11documentation_url\x18\x06 \x01(\x09R\x10documentationUrl\x12=\x0a\x0ccapabilities\x18\x07"
    b" \x01(\x0b2\x19.a2a.v1.AgentCapabilitiesR\x0ccapabilities\x12Q\x0a\x10security_schemes\x18\x08 \x03(\x0b2&.a2a.v1"
    b".AgentCard.SecuritySchemesEntryR\x0fsecuritySchemes\x12,\x0a\x08security\x18\x09 \x03(\x0b2\x10.a2a.v1.SecurityR"
    b"\x08security\x12.\x0a\x13default_input_modes\x18\x0a \x03(\x09R\x11defaultInputModes\x120\x0a\x14default_output_m"
    b"odes\x18\x0b \x03(\x09R\x12defaultOutputModes\x12*\x0a\x06skills\x18\x0c \x03(\x0b2\x12.a2a.v1.AgentSkillR\x06ski"
    b"lls\x12O\x0a$supports_authenticated_extended_card\x18\x0d \x01(\x08R!supportsAuthenticatedExtendedCard\x12/\x0a"
    b"\x13preferred_transport\x18\x0e \x01(\x09R\x12preferredTransport\x12K\x0a\x15additional_interfaces\x18\x0f \x03("
    b"\x0b2\x16.a2a.v1.AgentInterfaceR\x14additionalInterfaces\x12)\x0a\x10protocol_version\x18\x10 \x01(\x09R\x0fproto"
    b"colVersion\x12:\x0a\x0asignatures\x18\x11 \x03(\x0b2\x1a.a2a.v1.AgentCardSignatureR\x0asignatures\x12\x19\x0a\x08"
    b"icon_url\x18\x12 \x01(\x09R\x07iconUrl\x1aZ\x0a\x14SecuritySchemesEntry\x12\x10\x0a\x03key\x18\x01 \x01(\x09R\x03"
    b"key\x12,\x0a\x05value\x18\x02 \x01(\x0b2\x16.a2a.v1.SecuritySchemeR\x05value:\x028\x01\"E\x0a\x0dAgentProvider"
    b"\x12\x10\x0a\x03url\x18\x01 \x01(\x09R\x03url\x12\"\x0a\x0corganization\x18\x02 \x01(\x09R\x0corganization\"\x98"
    b"\x01\x0a\x11AgentCapabilities\x12\x1c\x0a\x09streaming\x18\x01 \x01(\x08R\x09streaming\x12-\x0a\x12push_notificat"
    b"ions\x18\x02 \x01(\x08R\x11pushNotifications\x126\x0a\x0aextensions\x18\x03 \x03(\x0b2\x16.a2a.v1.AgentExtensionR"
    b"\x0aextensions\"\x91\x01\x0a\x0eAgentExtension\x12\x10\x0a\x03uri\x18\x01 \x01(\x09R\x03uri\x12 \x0a\x0bdescripti"
    b"on\x18\x02 \x01(\x09R\x0bdescription\x12\x1a\x0a\x08required\x18\x03 \x01(\x08R\x08required\x12/\x0a\x06params"
    b"\x18\x04 \x01(\x0b2\x17.google.protobuf.StructR\x06params\"\xf4\x01\x0a\x0aAgentSkill\x12\x0e\x0a\x02id\x18\x01 "
    b"\x01(\x09R\x02id\x12\x12\x0a\x04name\x18\x02 \x01(\x09R\x04name\x12 \x0a\x0bdescription\x18\x03 \x01(\x09R\x0bdes"
    b"cription\x12\x12\x0a\x04tags\x18\x04 \x03(\x09R\x04tags\x12\x1a\x0a\x08examples\x18\x05 \x03(\x09R\x08examples"
    b"\x12\x1f\x0a\x0binput_modes\x18\x06 \x03(\x09R\x0ainputModes\x12!\x0a\x0coutput_modes\x18\x07 \x03(\x09R\x0boutpu"
    b"tModes\x12,\x0a\x08security\x18\x08 \x03(\x0b2\x10.a2a.v1.SecurityR\x08security\"\x8d\x01\x0a\x12AgentCardSignatu"
    b"re\x12\"\x0a\x09protected\x18\x01 \x01(\x09B\x04\xe2A\x01\x02R\x09protected\x12\"\x0a\x09signature\x18\x02 \x01("
    b"\x09B\x04\xe2A\x01\x02R\x09signature\x12/\x0a\x06header\x18\x03 \x01(\x0b2\x17.google.protobuf.StructR\x06header"
    b"\" \x0a\x0aStringList\x12\x12\x0a\x04list\x18\x01 \x03(\x09R\x04list\"\x93\x01\x0a\x08Security\x127\x0a\x07scheme"
    b"s\x18\x01 \x03(\x0b2\x1d.a2a.v1.Security.SchemesEntryR\x07schemes\x1aN\x0a\x0cSchemesEntry\x12\x10\x0a\x03key\x18"
    b"\x01 \x01(\x09R\x03key\x12(\x0a\x05value\x18\x02 \x01(\x0b2\x12.a2a.v1.StringListR\x05value:\x028\x01\"\xe6\x03"
    b"\x0a\x0eSecurityScheme\x12U\x0a\x17api_key_security_scheme\x18\x01 \x01(\x0b2\x1c.a2a.v1.APIKeySecuritySchemeH"
    b"\x00R\x14apiKeySecurityScheme\x12[\x0a\x19http_auth_security_scheme\x18\x02 \x01(\x0b2\x1e.a2a.v1.HTTPAuthSecurit"
    b"ySchemeH\x00R\x16httpAuthSecurityScheme\x12T\x0a\x16oauth2_security_scheme\x18\x03 \x01(\x0b2\x1c.a2a.v1.OAuth2Se"
    b"curitySchemeH\x00R\x14oauth2SecurityScheme\x12k\x0a\x1fopen_id_connect_security_scheme\x18\x04 \x01(\x0b2#.a2a.v1"
    b".OpenIdConnectSecuritySchemeH\x00R\x1bopenIdConnectSecurityScheme\x12S\x0a\x14mtls_security_scheme\x18\x05 \x01("
    b"\x0b2\x1f.a2a.v1.MutualTlsSecuritySchemeH\x00R\x12mtlsSecuritySchemeB\x08\x0a\x06scheme\"h\x0a\x14APIKeySecurityS"
    b"cheme\x12 \x0a\x0bdescription\x18\x01 \x01(\x09R\x0bdescription\x12\x1a\x0a\x08location\x18\x02 \x01(\x09R\x08loc"
    b"ation\x12\x12\x0a\x04name\x18\x03 \x01(\x09R\x04name\"w\x0a\x16HTTPAuthSecurityScheme\x12 \x0a\x0bdescription\x18"
    b"\x01 \x01(\x09R\x0bdescription\x12\x16\x0a\x06scheme\x18\x02 \x01(\x09R\x06scheme\x12#\x0a\x0dbearer_format\x18"
    b"\x03 \x01(\x09R\x0cbearerFormat\"\x92\x01\x0a\x14OAuth2SecurityScheme\x12 \x0a\x0bdescription\x18\x01 \x01(\x09R"
    b"\x0bdescription\x12(\x0a\x05flows\x18\x02 \x01(\x0b2\x12.a2a.v1.OAuthFlowsR\x05flows\x12.\x0a\x13oauth2_metadata_"
    b"url\x18\x03 \x01(\x09R\x11oauth2MetadataUrl\"n\x0a\x1bOpenIdConnectSecurityScheme\x12 \x0a\x0bdescription\x18\x01"
    b" \x01(\x09R\x0bdescription\x12-\x0a\x13open_id_connect_url\x18\x02 \x01(\x09R\x10openIdConnectUrl\";\x0a\x17Mutua"
    b"lTlsSecurityScheme\x12 \x0a\x0bdescription\x18\x01 \x01(\x09R\x0bdescription\"\xb0\x02\x0a\x0aOAuthFlows\x12S\x0a"
    b"\x12authorization_code\x18\x01 \x01(\x0b2\".a2a.v1.AuthorizationCodeOAuthFlowH\x00R\x11authorizationCode\x12S\x0a"
    b"\x12client_credentials\x18\x02 \x01(\x0b2\".a2a.v1.ClientCredentialsOAuthFlowH\x00R\x11clientCredentials\x127\x0a"
    b"\x08implicit\x18\x03 \x01(\x0b2\x19.a2a.v1.ImplicitOAuthFlowH\x00R\x08implicit\x127\x0a\x08password\x18\x04 \x01("
    b"\x0b2\x19.a2a.v1.PasswordOAuthFlowH\x00R\x08passwordB\x06\x0a\x04flow\"\x8a\x02\x0a\x1aAuthorizationCodeOAuthFlow"
    b"\x12+\x0a\x11authorization_url\x18\x01 \x01(\x09R\x10authorizationUrl\x12\x1b\x0a\x09token_url\x18\x02 \x01(\x09R"
    b"\x08tokenUrl\x12\x1f\x0a\x0brefresh_url\x18\x03 \x01(\x09R\x0arefreshUrl\x12F\x0a\x06scopes\x18\x04 \x03(\x0b2..a"
    b"2a.v1.AuthorizationCodeOAuthFlow.ScopesEntryR\x06scopes\x1a9\x0a\x0bScopesEntry\x12\x10\x0a\x03key\x18\x01 \x01("
    b"\x09R\x03key\x12\x14\x0a\x05value\x18\x02 \x01(\x09R\x05value:\x028\x01\"\xdd\x01\x0a\x1aClientCredentialsOAuthFl"
    b"ow\x12\x1b\x0a\x09token_url\x18\x01 \x01(\x09R\x08tokenUrl\x12\x1f\x0a\x0brefresh_url\x18\x02 \x01(\x09R\x0arefre"
    b"shUrl\x12F\x0a\x06scopes\x18\x03 \x03(\x0b2..a2a.v1.ClientCredentialsOAuthFlow.ScopesEntryR\x06scopes\x1a9\x0a"
    b"\x0bScopesEntry\x12\x10\x0a\x03key\x18\x01 \x01(\x09R\x03key\x12\x14\x0a\x05value\x18\x02 \x01(\x09R\x05value:"
    b"\x028\x01\"\xdb\x01\x0a\x11ImplicitOAuthFlow\x12+\x0a\x11authorization_url\x18\x01 \x01(\x09R\x10authorizationUrl"
    b"\x12\x1f\x0a\x0brefresh_url\x18\x02 \x01(\x09R\x0arefreshUrl\x12=\x0a\x06scopes\x18\x03 \x03(\x0b2%.a2a.v1.Implic"
    b"itOAuthFlow.ScopesEntryR\x06scopes\x1a9\x0a\x0bScopesEntry\x12\x10\x0a\x03key\x18\x01 \x01(\x09R\x03key\x12\x14"
    b"\x0a\x05value\x18\x02 \x01(\x09R\x05value:\x028\x01\"\xcb\x01\x0a\x11PasswordOAuthFlow\x12\x1b\x0a\x09token_url"
    b"\x18\x01 \x01(\x09R\x08tokenUrl\x12\x1f\x0a\x0brefresh_url\x18\x02 \x01(\x09R\x0arefreshUrl\x12=\x0a\x06scopes"
    b"\x18\x03 \x03(\x0b2%.a2a.v1.PasswordOAuthFlow.ScopesEntryR\x06scopes\x1a9\x0a\x0bScopesEntry\x12\x10\x0a\x03key"
    b"\x18\x01 \x01(\x09R\x03key\x12\x14\x0a\x05value\x18\x02 \x01(\x09R\x05value:\x028\x01\"\xc2\x01\x0a\x12SendMessag"
    b"eRequest\x12/\x0a\x07request\x18\x01 \x01(\x0b2\x0f.a2a.v1.MessageB\x04\xe2A\x01\x02R\x07message\x12F\x0a\x0dconf"
    b"iguration\x18\x02 \x01(\x0b2 .a2a.v1.SendMessageConfigurationR\x0dconfiguration\x123\x0a\x08metadata\x18\x03 \x01"
    b"(\x0b2\x17.google.protobuf.StructR\x08metadata\"Q\x0a\x0eGetTaskRequest\x12\x18\x0a\x04name\x18\x01 \x01(\x09B"
    b"\x04\xe2A\x01\x02R\x04name\x12%\x0a\x0ehistory_length\x18\x02 \x01(\x05R\x0dhistoryLength\"'\x0a\x11CancelTaskReq"
    b"uest\x12\x12\x0a\x04name\x18\x01 \x01(\x09R\x04name\":\x0a$GetTaskPushNotificationConfigRequest\x12\x12\x0a\x04na"
    b"me\x18\x01 \x01(\x09R\x04name\"=\x0a'DeleteTaskPushNotificationConfigRequest\x12\x12\x0a\x04name\x18\x01 \x01("
    b"\x09R\x04name\"\xac\x01\x0a'CreateTaskPushNotificationConfigRequest\x12\x1c\x0a\x06parent\x18\x01 \x01(\x09B\x04"
    b"\xe2A\x01\x02R\x06parent\x12!\x0a\x09config_id\x18\x02 \x01(\x09B\x04\xe2A\x01\x02R\x08configId\x12@\x0a\x06confi"
    b"g\x18\x03 \x01(\x0b2\".a2a.v1.TaskPushNotificationConfigB\x04\xe2A\x01\x02R\x06config\"-\x0a\x17TaskSubscriptionR"
    b"equest\x12\x12\x0a\x04name\x18\x01 \x01(\x09R\x04name\"{\x0a%ListTaskPushNotificationConfigRequest\x12\x16\x0a"
    b"\x06parent\x18\x01 \x01(\x09R\x06parent\x12\x1b\x0a\x09page_size\x18\x02 \x01(\x05R\x08pageSize\x12\x1d\x0a\x0apa"
    b"ge_token\x18\x03 \x01(\x09R\x09pageToken\"\x15\x0a\x13GetAgentCardRequest\"m\x0a\x13SendMessageResponse\x12\"\x0a"
    b"\x04task\x18\x01 \x01(\x0b2\x0c.a2a.v1.TaskH\x00R\x04task\x12'\x0a\x03msg\x18\x02 \x01(\x0b2\x0f.a2a.v1.MessageH"
    b"\x00R\x07messageB\x09\x0a\x07payload\"\xfa\x01\x0a\x0eStreamResponse\x12\"\x0a\x04task\x18\x01 \x01(\x0b2\x0c.a2a"
    b".v1.TaskH\x00R\x04task\x12'\x0a\x03msg\x18\x02 \x01(\x0b2\x0f.a2a.v1.MessageH\x00R\x07message\x12D\x0a\x0dstatus_"
    b"update\x18\x03 \x01(\x0b2\x1d.a2a.v1.TaskStatusUpdateEventH\x00R\x0cstatusUpdate\x12J\x0a\x0fartifact_update\x18"
    b"\x04 \x01(\x0b2\x1f.a2a.v1.TaskArtifactUpdateEventH\x00R\x0eartifactUpdateB\x09\x0a\x07payload\"\x8e\x01\x0a&List"
    b"TaskPushNotificationConfigResponse\x12<\x0a\x07configs\x18\x01 \x03(\x0b2\".a2a.v1.TaskPushNotificationConfigR"
    b"\x07configs\x12&\x0a\x0fnext_page_token\x18\x02 \x01(\x09R\x0dnextPageToken*\xfa\x01\x0a\x09TaskState\x12\x1a\x0a"
    b"\x16TASK_STATE_UNSPECIFIED\x10\x00\x12\x18\x0a\x14TASK_STATE_SUBMITTED\x10\x01\x12\x16\x0a\x12TASK_STATE_WORKING"
    b"\x10\x02\x12\x18\x0a\x14TASK_STATE_COMPLETED\x10\x03\x12\x15\x0a\x11TASK_STATE_FAILED\x10\x04\x12\x18\x0a\x14TASK"
    b"_STATE_CANCELLED\x10\x05\x12\x1d\x0a\x19TASK_STATE_INPUT_REQUIRED\x10\x06\x12\x17\x0a\x13TASK_STATE_REJECTED\x10"
    b"\x07\x12\x1c\x0a\x18TASK_STATE_AUTH_REQUIRED\x10\x08*;\x0a\x04Role\x12\x14\x0a\x10ROLE_UNSPECIFIED\x10\x00\x12"
    b"\x0d\x0a\x09ROLE_USER\x10\x01\x12\x0e\x0a\x0aROLE_AGENT\x10\x022\xbb\x0a\x0a\x0aA2AService\x12c\x0a\x0bSendMessag"
    b"e\x12\x1a.a2a.v1.SendMessageRequest\x1a\x1b.a2a.v1.SendMessageResponse\"\x1b\x82\xd3\xe4\x93\x02\x15\"\x10/v1/mes"
    b"sage:send:\x01*\x12k\x0a\x14SendStreamingMessage\x12\x1a.a2a.v1.SendMessageRequest\x1a\x16.a2a.v1.StreamResponse"
    b"\"\x1d\x82\xd3\xe4\x93\x02\x17\"\x12/v1/message:stream:\x01*0\x01\x12R\x0a\x07GetTask\x12\x16.a2a.v1.GetTaskReque"
    b"st\x1a\x0c.a2a.v1.Task\"!\x82\xd3\xe4\x93\x02\x14\x12\x12/v1/{name=tasks/*}\xdaA\x04name\x12[\x0a\x0aCancelTask"
    b"\x12\x19.a2a.v1.CancelTaskRequest\x1a\x0c.a2a.v1.Task\"$\x82\xd3\xe4\x93\x02\x1e\"\x19/v1/{name=tasks/*}:cancel:"
    b"\x01*\x12s\x0a\x10TaskSubscription\x12\x1f.a2a.v1.TaskSubscriptionRequest\x1a\x16.a2a.v1.StreamResponse\"$\x82"
    b"\xd3\xe4\x93\x02\x1e\x12\x1c/v1/{name=tasks/*}:subscribe0\x01\x12\xc5\x01\x0a CreateTaskPushNotificationConfig"
    b"\x12/.a2a.v1.CreateTaskPushNotificationConfigRequest\x1a\".a2a.v1.TaskPushNotificationConfig\"L\x82\xd3\xe4\x93"
    b"\x026\",/v1/{parent=tasks/*/pushNotificationConfigs}:\x06config\xdaA\x0dparent,config\x12\xae\x01\x0a\x1dGetTaskP"
    b"ushNotificationConfig\x12,.a2a.v1.GetTaskPushNotificationConfigRequest\x1a\".a2a.v1.TaskPushNotificationConfig\";"
    b"\x82\xd3\xe4\x93\x02.\x12,/v1/{name=tasks/*/pushNotificationConfigs/*}\xdaA\x04name\x12\xbe\x01\x0a\x1eListTaskPu"
    b"shNotificationConfig\x12-.a2a.v1.ListTaskPushNotificationConfigRequest\x1a..a2a.v1.ListTaskPushNotificationConfig"
    b"Response\"=\x82\xd3\xe4\x93\x02.\x12,/v1/{parent=tasks/*}/pushNotificationConfigs\xdaA\x06parent\x12P\x0a\x0cGetA"
    b"gentCard\x12\x1b.a2a.v1.GetAgentCardRequest\x1a\x11.a2a.v1.AgentCard\"\x10\x82\xd3\xe4\x93\x02\x0a\x12\x08/v1/car"
    b"d\x12\xa8\x01\x0a DeleteTaskPushNotificationConfig\x12/.a2a.v1.DeleteTaskPushNotificationConfigRequest\x1a\x16.go"
    b"ogle.protobuf.Empty\";\x82\xd3\xe4\x93\x02.*,/v1/{name=tasks/*/pushNotificationConfigs/*}\xdaA\x04nameb\x06proto3"
)

SendMessageConfiguration = _pool.message_class("a2a.v1.SendMessageConfiguration", __name__)
Task = _pool.message_class("a2a.v1.Task", __name__)
TaskStatus = _pool.message_class("a2a.v1.TaskStatus", __name__)
Part = _pool.message_class("a2a.v1.Part", __name__)
FilePart = _pool.message_class("a2a.v1.FilePart", __name__)
DataPart = _pool.message_class("a2a.v1.DataPart", __name__)
Message = _pool.message_class("a2a.v1.Message", __name__)
Artifact = _pool.message_class("a2a.v1.Artifact", __name__)
TaskStatusUpdateEvent = _pool.message_class("a2a.v1.TaskStatusUpdateEvent", __name__)
TaskArtifactUpdateEvent = _pool.message_class("a2a.v1.TaskArtifactUpdateEvent", __name__)
PushNotificationConfig = _pool.message_class("a2a.v1.PushNotificationConfig", __name__)
AuthenticationInfo = _pool.message_class("a2a.v1.AuthenticationInfo", __name__)
TaskPushNotificationConfig = _pool.message_class("a2a.v1.TaskPushNotificationConfig", __name__)
AgentInterface = _pool.message_class("a2a.v1.AgentInterface", __name__)
AgentCard = _pool.message_class("a2a.v1.AgentCard", __name__)
AgentProvider = _pool.message_class("a2a.v1.AgentProvider", __name__)
AgentCapabilities = _pool.message_class("a2a.v1.AgentCapabilities", __name__)
AgentExtension = _pool.message_class("a2a.v1.AgentExtension", __name__)
AgentSkill = _pool.message_class("a2a.v1.AgentSkill", __name__)
AgentCardSignature = _pool.message_class("a2a.v1.AgentCardSignature", __name__)
StringList = _pool.message_class("a2a.v1.StringList", __name__)
Security = _pool.message_class("a2a.v1.Security", __name__)
SecurityScheme = _pool.message_class("a2a.v1.SecurityScheme", __name__)
APIKeySecurityScheme = _pool.message_class("a2a.v1.APIKeySecurityScheme", __name__)
HTTPAuthSecurityScheme = _pool.message_class("a2a.v1.HTTPAuthSecurityScheme", __name__)
OAuth2SecurityScheme = _pool.message_class("a2a.v1.OAuth2SecurityScheme", __name__)
OpenIdConnectSecurityScheme = _pool.message_class("a2a.v1.OpenIdConnectSecurityScheme", __name__)
MutualTlsSecurityScheme = _pool.message_class("a2a.v1.MutualTlsSecurityScheme", __name__)
OAuthFlows = _pool.message_class("a2a.v1.OAuthFlows", __name__)
AuthorizationCodeOAuthFlow = _pool.message_class("a2a.v1.AuthorizationCodeOAuthFlow", __name__)
ClientCredentialsOAuthFlow = _pool.message_class("a2a.v1.ClientCredentialsOAuthFlow", __name__)
ImplicitOAuthFlow = _pool.message_class("a2a.v1.ImplicitOAuthFlow", __name__)
PasswordOAuthFlow = _pool.message_class("a2a.v1.PasswordOAuthFlow", __name__)
SendMessageRequest = _pool.message_class("a2a.v1.SendMessageRequest", __name__)
GetTaskRequest = _pool.message_class("a2a.v1.GetTaskRequest", __name__)
CancelTaskRequest = _pool.message_class("a2a.v1.CancelTaskRequest", __name__)
GetTaskPushNotificationConfigRequest = _pool.message_class("a2a.v1.GetTaskPushNotificationConfigRequest", __name__)
DeleteTaskPushNotificationConfigRequest = _pool.message_class("a2a.v1.DeleteTaskPushNotificationConfigRequest", __name__)
CreateTaskPushNotificationConfigRequest = _pool.message_class("a2a.v1.CreateTaskPushNotificationConfigRequest", __name__)
TaskSubscriptionRequest = _pool.message_class("a2a.v1.TaskSubscriptionRequest", __name__)
ListTaskPushNotificationConfigRequest = _pool.message_class("a2a.v1.ListTaskPushNotificationConfigRequest", __name__)
GetAgentCardRequest = _pool.message_class("a2a.v1.GetAgentCardRequest", __name__)
SendMessageResponse = _pool.message_class("a2a.v1.SendMessageResponse", __name__)
StreamResponse = _pool.message_class("a2a.v1.StreamResponse", __name__)
ListTaskPushNotificationConfigResponse = _pool.message_class("a2a.v1.ListTaskPushNotificationConfigResponse", __name__)
Struct = _pool.message_class("google.protobuf.Struct", __name__)
Value = _pool.message_class("google.protobuf.Value", __name__)
ListValue = _pool.message_class("google.protobuf.ListValue", __name__)
Timestamp = _pool.message_class("google.protobuf.Timestamp", __name__)
Empty = _pool.message_class("google.protobuf.Empty", __name__)

TaskState = _EnumTypeWrapper(DESCRIPTOR.enum_types_by_name["TaskState"])
TASK_STATE_UNSPECIFIED = 0
TASK_STATE_SUBMITTED = 1
TASK_STATE_WORKING = 2
TASK_STATE_COMPLETED = 3
TASK_STATE_FAILED = 4
TASK_STATE_CANCELLED = 5
TASK_STATE_INPUT_REQUIRED = 6
TASK_STATE_REJECTED = 7
TASK_STATE_AUTH_REQUIRED = 8

Role = _EnumTypeWrapper(DESCRIPTOR.enum_types_by_name["Role"])
ROLE_UNSPECIFIED = 0
ROLE_USER = 1
ROLE_AGENT = 2
