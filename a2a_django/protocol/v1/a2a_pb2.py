"""Generated from proto/a2a.proto by `python proto/generate.py`; do not edit.

The messages and enums of lf.a2a.v1, in the private descriptor pool of a2a_django/protocol/pool.py.
"""

from __future__ import annotations

from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper as _EnumTypeWrapper

from a2a_django.protocol import pool as _pool

POOL = _pool.POOL
DESCRIPTOR = _pool.load(
    b"\x0a\x09a2a.proto\x12\x09lf.a2a.v1\x1a\x1cgoogle/api/annotations.proto\x1a\x17google/api/client.proto\x1a\x1fgoog"
    b"le/api/field_behavior.proto\x1a\x1bgoogle/protobuf/empty.proto\x1a\x1cgoogle/protobuf/struct.proto\x1a\x1fgoogle/"
    b"protobuf/timestamp.proto\"\x86\x02\x0a\x04Task\x12\x14\x0a\x02id\x18\x01 \x01(\x09B\x04\xe2A\x01\x02R\x02id\x12"
    b"\x1d\x0a\x0acontext_id\x18\x02 \x01(\x09R\x09contextId\x123\x0a\x06status\x18\x03 \x01(\x0b2\x15.lf.a2a.v1.TaskSt"
    b"atusB\x04\xe2A\x01\x02R\x06status\x121\x0a\x09artifacts\x18\x04 \x03(\x0b2\x13.lf.a2a.v1.ArtifactR\x09artifacts"
    b"\x12,\x0a\x07history\x18\x05 \x03(\x0b2\x12.lf.a2a.v1.MessageR\x07history\x123\x0a\x08metadata\x18\x06 \x01(\x0b2"
    b"\x17.google.protobuf.StructR\x08metadata\"\xa6\x01\x0a\x0aTaskStatus\x120\x0a\x05state\x18\x01 \x01(\x0e2\x14.lf."
    b"a2a.v1.TaskStateB\x04\xe2A\x01\x02R\x05state\x12,\x0a\x07message\x18\x02 \x01(\x0b2\x12.lf.a2a.v1.MessageR\x07mes"
    b"sage\x128\x0a\x09timestamp\x18\x03 \x01(\x0b2\x1a.google.protobuf.TimestampR\x09timestamp\"\xed\x01\x0a\x04Part"
    b"\x12\x14\x0a\x04text\x18\x01 \x01(\x09H\x00R\x04text\x12\x12\x0a\x03raw\x18\x02 \x01(\x0cH\x00R\x03raw\x12\x12"
    b"\x0a\x03url\x18\x03 \x01(\x09H\x00R\x03url\x12,\x0a\x04data\x18\x04 \x01(\x0b2\x16.google.protobuf.ValueH\x00R"
    b"\x04data\x123\x0a\x08metadata\x18\x05 \x01(\x0b2\x17.google.protobuf.StructR\x08metadata\x12\x1a\x0a\x08filename"
    b"\x18\x06 \x01(\x09R\x08filename\x12\x1d\x0a\x0amedia_type\x18\x07 \x01(\x09R\x09mediaTypeB\x09\x0a\x07content\""
    b"\xc1\x02\x0a\x07Message\x12#\x0a\x0amessage_id\x18\x01 \x01(\x09B\x04\xe2A\x01\x02R\x09messageId\x12\x1d\x0a\x0ac"
    b"ontext_id\x18\x02 \x01(\x09R\x09contextId\x12\x17\x0a\x07task_id\x18\x03 \x01(\x09R\x06taskId\x12)\x0a\x04role"
    b"\x18\x04 \x01(\x0e2\x0f.lf.a2a.v1.RoleB\x04\xe2A\x01\x02R\x04role\x12+\x0a\x05parts\x18\x05 \x03(\x0b2\x0f.lf.a2a"
    b".v1.PartB\x04\xe2A\x01\x02R\x05parts\x123\x0a\x08metadata\x18\x06 \x01(\x0b2\x17.google.protobuf.StructR\x08metad"
    b"ata\x12\x1e\x0a\x0aextensions\x18\x07 \x03(\x09R\x0aextensions\x12,\x0a\x12reference_task_ids\x18\x08 \x03(\x09R"
    b"\x10referenceTaskIds\"\xe9\x01\x0a\x08Artifact\x12%\x0a\x0bartifact_id\x18\x01 \x01(\x09B\x04\xe2A\x01\x02R\x0aar"
    b"tifactId\x12\x12\x0a\x04name\x18\x02 \x01(\x09R\x04name\x12 \x0a\x0bdescription\x18\x03 \x01(\x09R\x0bdescription"
    b"\x12+\x0a\x05parts\x18\x04 \x03(\x0b2\x0f.lf.a2a.v1.PartB\x04\xe2A\x01\x02R\x05parts\x123\x0a\x08metadata\x18\x05"
    b" \x01(\x0b2\x17.google.protobuf.StructR\x08metadata\x12\x1e\x0a\x0aextensions\x18\x06 \x03(\x09R\x0aextensions\""
    b"\xc5\x01\x0a\x15TaskStatusUpdateEvent\x12\x1d\x0a\x07task_id\x18\x01 \x01(\x09B\x04\xe2A\x01\x02R\x06taskId\x12#"
    b"\x0a\x0acontext_id\x18\x02 \x01(\x09B\x04\xe2A\x01\x02R\x09contextId\x123\x0a\x06status\x18\x03 \x01(\x0b2\x15.lf"
    b".a2a.v1.TaskStatusB\x04\xe2A\x01\x02R\x06status\x123\x0a\x08metadata\x18\x04 \x01(\x0b2\x17.google.protobuf.Struc"
    b"tR\x08metadata\"\x80\x02\x0a\x17TaskArtifactUpdateEvent\x12\x1d\x0a\x07task_id\x18\x01 \x01(\x09B\x04\xe2A\x01"
    b"\x02R\x06taskId\x12#\x0a\x0acontext_id\x18\x02 \x01(\x09B\x04\xe2A\x01\x02R\x09contextId\x125\x0a\x08artifact\x18"
    b"\x03 \x01(\x0b2\x13.lf.a2a.v1.ArtifactB\x04\xe2A\x01\x02R\x08artifact\x12\x16\x0a\x06append\x18\x04 \x01(\x08R"
    b"\x06append\x12\x1d\x0a\x0alast_chunk\x18\x05 \x01(\x08R\x09lastChunk\x123\x0a\x08metadata\x18\x06 \x01(\x0b2\x17."
    b"google.protobuf.StructR\x08metadata\"\xd2\x01\x0a\x1aTaskPushNotificationConfig\x12\x16\x0a\x06tenant\x18\x01 "
    b"\x01(\x09R\x06tenant\x12\x0e\x0a\x02id\x18\x02 \x01(\x09R\x02id\x12\x17\x0a\x07task_id\x18\x03 \x01(\x09R\x06task"
    b"Id\x12\x16\x0a\x03url\x18\x04 \x01(\x09B\x04\xe2A\x01\x02R\x03url\x12\x14\x0a\x05token\x18\x05 \x01(\x09R\x05toke"
    b"n\x12E\x0a\x0eauthentication\x18\x06 \x01(\x0b2\x1d.lf.a2a.v1.AuthenticationInfoR\x0eauthentication\"T\x0a\x12Aut"
    b"henticationInfo\x12\x1c\x0a\x06scheme\x18\x01 \x01(\x09B\x04\xe2A\x01\x02R\x06scheme\x12 \x0a\x0bcredentials\x18"
    b"\x02 \x01(\x09R\x0bcredentials\"\xa0\x07\x0a\x09AgentCard\x12\x18\x0a\x04name\x18\x01 \x01(\x09B\x04\xe2A\x01\x02"
    b"R\x04name\x12&\x0a\x0bdescription\x18\x02 \x01(\x09B\x04\xe2A\x01\x02R\x0bdescription\x12R\x0a\x14supported_inter"
    b"faces\x18\x03 \x03(\x0b2\x19.lf.a2a.v1.AgentInterfaceB\x04\xe2A\x01\x02R\x13supportedInterfaces\x124\x0a\x08provi"
    b"der\x18\x04 \x01(\x0b2\x18.lf.a2a.v1.AgentProviderR\x08provider\x12\x1e\x0a\x07version\x18\x05 \x01(\x09B\x04\xe2"
    b"A\x01\x02R\x07version\x120\x0a\x11documentation_url\x18\x06 \x01(\x09H\x00R\x10documentationUrl\x88\x01\x01\x12F"
    b"\x0a\x0ccapabilities\x18\x07 \x01(\x0b2\x1c.lf.a2a.v1.AgentCapabilitiesB\x04\xe2A\x01\x02R\x0ccapabilities\x12T"
    b"\x0a\x10security_schemes\x18\x08 \x03(\x0b2).lf.a2a.v1.AgentCard.SecuritySchemesEntryR\x0fsecuritySchemes\x12S"
    b"\x0a\x15security_requirements\x18\x09 \x03(\x0b2\x1e.lf.a2a.v1.SecurityRequirementR\x14securityRequirements\x124"
    b"\x0a\x13default_input_modes\x18\x0a \x03(\x09B\x04\xe2A\x01\x02R\x11defaultInputModes\x126\x0a\x14default_output_"
    b"modes\x18\x0b \x03(\x09B\x04\xe2A\x01\x02R\x12defaultOutputModes\x123\x0a\x06skills\x18\x0c \x03(\x0b2\x15.lf.a2a"
    b".v1.AgentSkillB\x04\xe2A\x01\x02R\x06skills\x12=\x0a\x0asignatures\x18\x0d \x03(\x0b2\x1d.lf.a2a.v1.AgentCardSign"
    b"atureR\x0asignatures\x12\x1e\x0a\x08icon_url\x18\x0e \x01(\x09H\x01R\x07iconUrl\x88\x01\x01\x1a]\x0a\x14SecurityS"
    b"chemesEntry\x12\x10\x0a\x03key\x18\x01 \x01(\x09R\x03key\x12/\x0a\x05value\x18\x02 \x01(\x0b2\x19.lf.a2a.v1.Secur"
    b"itySchemeR\x05value:\x028\x01B\x14\x0a\x12_documentation_urlB\x0b\x0a\x09_icon_url\"\xa2\x01\x0a\x0eAgentInterfac"
    b"e\x12\x16\x0a\x03url\x18\x01 \x01(\x09B\x04\xe2A\x01\x02R\x03url\x12/\x0a\x10protocol_binding\x18\x02 \x01(\x09B"
    b"\x04\xe2A\x01\x02R\x0fprotocolBinding\x12\x16\x0a\x06tenant\x18\x03 \x01(\x09R\x06tenant\x12/\x0a\x10protocol_ver"
    b"sion\x18\x04 \x01(\x09B\x04\xe2A\x01\x02R\x0fprotocolVersion\"Q\x0a\x0dAgentProvider\x12\x16\x0a\x03url\x18\x01 "
    b"\x01(\x09B\x04\xe2A\x01\x02R\x03url\x12(\x0a\x0corganization\x18\x02 \x01(\x09B\x04\xe2A\x01\x02R\x0corganization"
    b"\"\x97\x02\x0a\x11AgentCapabilities\x12!\x0a\x09streaming\x18\x01 \x01(\x08H\x00R\x09streaming\x88\x01\x01\x122"
    b"\x0a\x12push_notifications\x18\x02 \x01(\x08H\x01R\x11pushNotifications\x88\x01\x01\x129\x0a\x0aextensions\x18"
    b"\x03 \x03(\x0b2\x19.lf.a2a.v1.AgentExtensionR\x0aextensions\x123\x0a\x13extended_agent_card\x18\x04 \x01(\x08H"
    b"\x02R\x11extendedAgentCard\x88\x01\x01B\x0c\x0a\x0a_streamingB\x15\x0a\x13_push_notificationsB\x16\x0a\x14_extend"
    b"ed_agent_card\"\x91\x01\x0a\x0eAgentExtension\x12\x10\x0a\x03uri\x18\x01 \x01(\x09R\x03uri\x12 \x0a\x0bdescriptio"
    b"n\x18\x02 \x01(\x09R\x0bdescription\x12\x1a\x0a\x08required\x18\x03 \x01(\x08R\x08required\x12/\x0a\x06params\x18"
    b"\x04 \x01(\x0b2\x17.google.protobuf.StructR\x06params\"\xb3\x02\x0a\x0aAgentSkill\x12\x14\x0a\x02id\x18\x01 \x01("
    b"\x09B\x04\xe2A\x01\x02R\x02id\x12\x18\x0a\x04name\x18\x02 \x01(\x09B\x04\xe2A\x01\x02R\x04name\x12&\x0a\x0bdescri"
    b"ption\x18\x03 \x01(\x09B\x04\xe2A\x01\x02R\x0bdescription\x12\x18\x0a\x04tags\x18\x04 \x03(\x09B\x04\xe2A\x01\x02"
    b"R\x04tags\x12\x1a\x0a\x08examples\x18\x05 \x03(\x09R\x08examples\x12\x1f\x0a\x0binput_modes\x18\x06 \x03(\x09R"
    b"\x0ainputModes\x12!\x0a\x0coutput_modes\x18\x07 \x03(\x09R\x0boutputModes\x12S\x0a\x15security_requirements\x18"
    b"\x08 \x03(\x0b2\x1e.lf.a2a.v1.SecurityRequirementR\x14securityRequirements\"\x8d\x01\x0a\x12AgentCardSignature"
    b"\x12\"\x0a\x09protected\x18\x01 \x01(\x09B\x04\xe2A\x01\x02R\x09protected\x12\"\x0a\x09signature\x18\x02 \x01("
    b"\x09B\x04\xe2A\x01\x02R\x09signature\x12/\x0a\x06header\x18\x03 \x01(\x0b2\x17.google.protobuf.StructR\x06header"
    b"\" \x0a\x0aStringList\x12\x12\x0a\x04list\x18\x01 \x03(\x09R\x04list\"\xaf\x01\x0a\x13SecurityRequirement\x12E"
    b"\x0a\x07schemes\x18\x01 \x03(\x0b2+.lf.a2a.v1.SecurityRequirement.SchemesEntryR\x07schemes\x1aQ\x0a\x0cSchemesEnt"
    b"ry\x12\x10\x0a\x03key\x18\x01 \x01(\x09R\x03key\x12+\x0a\x05value\x18\x02 \x01(\x0b2\x15.lf.a2a.v1.StringListR"
    b"\x05value:\x028\x01\"\xf5\x03\x0a\x0eSecurityScheme\x12X\x0a\x17api_key_security_scheme\x18\x01 \x01(\x0b2\x1f.lf"
    b".a2a.v1.APIKeySecuritySchemeH\x00R\x14apiKeySecurityScheme\x12^\x0a\x19http_auth_security_scheme\x18\x02 \x01("
    b"\x0b2!.lf.a2a.v1.HTTPAuthSecuritySchemeH\x00R\x16httpAuthSecurityScheme\x12W\x0a\x16oauth2_security_scheme\x18"
    b"\x03 \x01(\x0b2\x1f.lf.a2a.v1.OAuth2SecuritySchemeH\x00R\x14oauth2SecurityScheme\x12n\x0a\x1fopen_id_connect_secu"
    b"rity_scheme\x18\x04 \x01(\x0b2&.lf.a2a.v1.OpenIdConnectSecuritySchemeH\x00R\x1bopenIdConnectSecurityScheme\x12V"
    b"\x0a\x14mtls_security_scheme\x18\x05 \x01(\x0b2\".lf.a2a.v1.MutualTlsSecuritySchemeH\x00R\x12mtlsSecuritySchemeB"
    b"\x08\x0a\x06scheme\"t\x0a\x14APIKeySecurityScheme\x12 \x0a\x0bdescription\x18\x01 \x01(\x09R\x0bdescription\x12 "
    b"\x0a\x08location\x18\x02 \x01(\x09B\x04\xe2A\x01\x02R\x08location\x12\x18\x0a\x04name\x18\x03 \x01(\x09B\x04\xe2A"
    b"\x01\x02R\x04name\"}\x0a\x16HTTPAuthSecurityScheme\x12 \x0a\x0bdescription\x18\x01 \x01(\x09R\x0bdescription\x12"
    b"\x1c\x0a\x06scheme\x18\x02 \x01(\x09B\x04\xe2A\x01\x02R\x06scheme\x12#\x0a\x0dbearer_format\x18\x03 \x01(\x09R"
    b"\x0cbearerFormat\"\x9b\x01\x0a\x14OAuth2SecurityScheme\x12 \x0a\x0bdescription\x18\x01 \x01(\x09R\x0bdescription"
    b"\x121\x0a\x05flows\x18\x02 \x01(\x0b2\x15.lf.a2a.v1.OAuthFlowsB\x04\xe2A\x01\x02R\x05flows\x12.\x0a\x13oauth2_met"
    b"adata_url\x18\x03 \x01(\x09R\x11oauth2MetadataUrl\"t\x0a\x1bOpenIdConnectSecurityScheme\x12 \x0a\x0bdescription"
    b"\x18\x01 \x01(\x09R\x0bdescription\x123\x0a\x13open_id_connect_url\x18\x02 \x01(\x09B\x04\xe2A\x01\x02R\x10openId"
    b"ConnectUrl\";\x0a\x17MutualTlsSecurityScheme\x12 \x0a\x0bdescription\x18\x01 \x01(\x09R\x0bdescription\"\x87\x03"
    b"\x0a\x0aOAuthFlows\x12V\x0a\x12authorization_code\x18\x01 \x01(\x0b2%.lf.a2a.v1.AuthorizationCodeOAuthFlowH\x00R"
    b"\x11authorizationCode\x12V\x0a\x12client_credentials\x18\x02 \x01(\x0b2%.lf.a2a.v1.ClientCredentialsOAuthFlowH"
    b"\x00R\x11clientCredentials\x12>\x0a\x08implicit\x18\x03 \x01(\x0b2\x1c.lf.a2a.v1.ImplicitOAuthFlowB\x02\x18\x01H"
    b"\x00R\x08implicit\x12>\x0a\x08password\x18\x04 \x01(\x0b2\x1c.lf.a2a.v1.PasswordOAuthFlowB\x02\x18\x01H\x00R\x08p"
    b"assword\x12A\x0a\x0bdevice_code\x18\x05 \x01(\x0b2\x1e.lf.a2a.v1.DeviceCodeOAuthFlowH\x00R\x0adeviceCodeB\x06\x0a"
    b"\x04flow\"\xc4\x02\x0a\x1aAuthorizationCodeOAuthFlow\x121\x0a\x11authorization_url\x18\x01 \x01(\x09B\x04\xe2A"
    b"\x01\x02R\x10authorizationUrl\x12!\x0a\x09token_url\x18\x02 \x01(\x09B\x04\xe2A\x01\x02R\x08tokenUrl\x12\x1f\x0a"
    b"\x0brefresh_url\x18\x03 \x01(\x09R\x0arefreshUrl\x12O\x0a\x06scopes\x18\x04 \x03(\x0b21.lf.a2a.v1.AuthorizationCo"
    b"deOAuthFlow.ScopesEntryB\x04\xe2A\x01\x02R\x06scopes\x12#\x0a\x0dpkce_required\x18\x05 \x01(\x08R\x0cpkceRequired"
    b"\x1a9\x0a\x0bScopesEntry\x12\x10\x0a\x03key\x18\x01 \x01(\x09R\x03key\x12\x14\x0a\x05value\x18\x02 \x01(\x09R\x05"
    b"value:\x028\x01\"\xec\x01\x0a\x1aClientCredentialsOAuthFlow\x12!\x0a\x09token_url\x18\x01 \x01(\x09B\x04\xe2A\x01"
    b"\x02R\x08tokenUrl\x12\x1f\x0a\x0brefresh_url\x18\x02 \x01(\x09R\x0arefreshUrl\x12O\x0a\x06scopes\x18\x03 \x03("
    b"\x0b21.lf.a2a.v1.ClientCredentialsOAuthFlow.ScopesEntryB\x04\xe2A\x01\x02R\x06scopes\x1a9\x0a\x0bScopesEntry\x12"
    b"\x10\x0a\x03key\x18\x01 \x01(\x09R\x03key\x12\x14\x0a\x05value\x18\x02 \x01(\x09R\x05value:\x028\x01\"\xde\x01"
    b"\x0a\x11ImplicitOAuthFlow\x12+\x0a\x11authorization_url\x18\x01 \x01(\x09R\x10authorizationUrl\x12\x1f\x0a\x0bref"
    b"resh_url\x18\x02 \x01(\x09R\x0arefreshUrl\x12@\x0a\x06scopes\x18\x03 \x03(\x0b2(.lf.a2a.v1.ImplicitOAuthFlow.Scop"
    b"esEntryR\x06scopes\x1a9\x0a\x0bScopesEntry\x12\x10\x0a\x03key\x18\x01 \x01(\x09R\x03key\x12\x14\x0a\x05value\x18"
    b"\x02 \x01(\x09R\x05value:\x028\x01\"\xce\x01\x0a\x11PasswordOAuthFlow\x12\x1b\x0a\x09token_url\x18\x01 \x01(\x09R"
    b"\x08tokenUrl\x12\x1f\x0a\x0brefresh_url\x18\x02 \x01(\x09R\x0arefreshUrl\x12@\x0a\x06scopes\x18\x03 \x03(\x0b2(.l"
    b"f.a2a.v1.PasswordOAuthFlow.ScopesEntryR\x06scopes\x1a9\x0a\x0bScopesEntry\x12\x10\x0a\x03key\x18\x01 \x01(\x09R"
    b"\x03key\x12\x14\x0a\x05value\x18\x02 \x01(\x09R\x05value:\x028\x01\"\x9e\x02\x0a\x13DeviceCodeOAuthFlow\x12>\x0a"
    b"\x18device_authorization_url\x18\x01 \x01(\x09B\x04\xe2A\x01\x02R\x16deviceAuthorizationUrl\x12!\x0a\x09token_url"
    b"\x18\x02 \x01(\x09B\x04\xe2A\x01\x02R\x08tokenUrl\x12\x1f\x0a\x0brefresh_url\x18\x03 \x01(\x09R\x0arefreshUrl\x12"
    b"H\x0a\x06scopes\x18\x04 \x03(\x0b2*.lf.a2a.v1.DeviceCodeOAuthFlow.ScopesEntryB\x04\xe2A\x01\x02R\x06scopes\x1a9"
    b"\x0a\x0bScopesEntry\x12\x10\x0a\x03key\x18\x01 \x01(\x09R\x03key\x12\x14\x0a\x05value\x18\x02 \x01(\x09R\x05value"
    b":\x028\x01\"\xe0\x01\x0a\x12SendMessageRequest\x12\x16\x0a\x06tenant\x18\x01 \x01(\x09R\x06tenant\x122\x0a\x07mes"
    b"sage\x18\x02 \x01(\x0b2\x12.lf.a2a.v1.MessageB\x04\xe2A\x01\x02R\x07message\x12I\x0a\x0dconfiguration\x18\x03 "
    b"\x01(\x0b2#.lf.a2a.v1.SendMessageConfigurationR\x0dconfiguration\x123\x0a\x08metadata\x18\x04 \x01(\x0b2\x17.goog"
    b"le.protobuf.StructR\x08metadata\"\xa6\x02\x0a\x18SendMessageConfiguration\x122\x0a\x15accepted_output_modes\x18"
    b"\x01 \x03(\x09R\x13acceptedOutputModes\x12h\x0a\x1dtask_push_notification_config\x18\x02 \x01(\x0b2%.lf.a2a.v1.Ta"
    b"skPushNotificationConfigR\x1ataskPushNotificationConfig\x12*\x0a\x0ehistory_length\x18\x03 \x01(\x05H\x00R\x0dhis"
    b"toryLength\x88\x01\x01\x12-\x0a\x12return_immediately\x18\x04 \x01(\x08R\x11returnImmediatelyB\x11\x0a\x0f_histor"
    b"y_length\"w\x0a\x13SendMessageResponse\x12%\x0a\x04task\x18\x01 \x01(\x0b2\x0f.lf.a2a.v1.TaskH\x00R\x04task\x12."
    b"\x0a\x07message\x18\x02 \x01(\x0b2\x12.lf.a2a.v1.MessageH\x00R\x07messageB\x09\x0a\x07payload\"\x8a\x02\x0a\x0eSt"
    b"reamResponse\x12%\x0a\x04task\x18\x01 \x01(\x0b2\x0f.lf.a2a.v1.TaskH\x00R\x04task\x12.\x0a\x07message\x18\x02 "
    b"\x01(\x0b2\x12.lf.a2a.v1.MessageH\x00R\x07message\x12G\x0a\x0dstatus_update\x18\x03 \x01(\x0b2 .lf.a2a.v1.TaskSta"
    b"tusUpdateEventH\x00R\x0cstatusUpdate\x12M\x0a\x0fartifact_update\x18\x04 \x01(\x0b2\".lf.a2a.v1.TaskArtifactUpdat"
    b"eEventH\x00R\x0eartifactUpdateB\x09\x0a\x07payload\"}\x0a\x0eGetTaskRequest\x12\x16\x0a\x06tenant\x18\x01 \x01("
    b"\x09R\x06tenant\x12\x14\x0a\x02id\x18\x02 \x01(\x09B\x04\xe2A\x01\x02R\x02id\x12*\x0a\x0ehistory_length\x18\x03 "
    b"\x01(\x05H\x00R\x0dhistoryLength\x88\x01\x01B\x11\x0a\x0f_history_length\"\x9f\x03\x0a\x10ListTasksRequest\x12"
    b"\x16\x0a\x06tenant\x18\x01 \x01(\x09R\x06tenant\x12\x1d\x0a\x0acontext_id\x18\x02 \x01(\x09R\x09contextId\x12,"
    b"\x0a\x06status\x18\x03 \x01(\x0e2\x14.lf.a2a.v1.TaskStateR\x06status\x12 \x0a\x09page_size\x18\x04 \x01(\x05H\x00"
    b"R\x08pageSize\x88\x01\x01\x12\x1d\x0a\x0apage_token\x18\x05 \x01(\x09R\x09pageToken\x12*\x0a\x0ehistory_length"
    b"\x18\x06 \x01(\x05H\x01R\x0dhistoryLength\x88\x01\x01\x12P\x0a\x16status_timestamp_after\x18\x07 \x01(\x0b2\x1a.g"
    b"oogle.protobuf.TimestampR\x14statusTimestampAfter\x120\x0a\x11include_artifacts\x18\x08 \x01(\x08H\x02R\x10includ"
    b"eArtifacts\x88\x01\x01B\x0c\x0a\x0a_page_sizeB\x11\x0a\x0f_history_lengthB\x14\x0a\x12_include_artifacts\"\xb6"
    b"\x01\x0a\x11ListTasksResponse\x12+\x0a\x05tasks\x18\x01 \x03(\x0b2\x0f.lf.a2a.v1.TaskB\x04\xe2A\x01\x02R\x05tasks"
    b"\x12,\x0a\x0fnext_page_token\x18\x02 \x01(\x09B\x04\xe2A\x01\x02R\x0dnextPageToken\x12!\x0a\x09page_size\x18\x03 "
    b"\x01(\x05B\x04\xe2A\x01\x02R\x08pageSize\x12#\x0a\x0atotal_size\x18\x04 \x01(\x05B\x04\xe2A\x01\x02R\x09totalSize"
    b"\"v\x0a\x11CancelTaskRequest\x12\x16\x0a\x06tenant\x18\x01 \x01(\x09R\x06tenant\x12\x14\x0a\x02id\x18\x02 \x01("
    b"\x09B\x04\xe2A\x01\x02R\x02id\x123\x0a\x08metadata\x18\x03 \x01(\x0b2\x17.google.protobuf.StructR\x08metadata\"F"
    b"\x0a\x16SubscribeToTaskRequest\x12\x16\x0a\x06tenant\x18\x01 \x01(\x09R\x06tenant\x12\x14\x0a\x02id\x18\x02 \x01("
    b"\x09B\x04\xe2A\x01\x02R\x02id\"s\x0a$GetTaskPushNotificationConfigRequest\x12\x16\x0a\x06tenant\x18\x01 \x01(\x09"
    b"R\x06tenant\x12\x1d\x0a\x07task_id\x18\x02 \x01(\x09B\x04\xe2A\x01\x02R\x06taskId\x12\x14\x0a\x02id\x18\x03 \x01("
    b"\x09B\x04\xe2A\x01\x02R\x02id\"\x9b\x01\x0a&ListTaskPushNotificationConfigsRequest\x12\x1d\x0a\x07task_id\x18\x01"
    b" \x01(\x09B\x04\xe2A\x01\x02R\x06taskId\x12\x1b\x0a\x09page_size\x18\x02 \x01(\x05R\x08pageSize\x12\x1d\x0a\x0apa"
    b"ge_token\x18\x03 \x01(\x09R\x09pageToken\x12\x16\x0a\x06tenant\x18\x04 \x01(\x09R\x06tenant\"\x92\x01\x0a'ListTas"
    b"kPushNotificationConfigsResponse\x12?\x0a\x07configs\x18\x01 \x03(\x0b2%.lf.a2a.v1.TaskPushNotificationConfigR"
    b"\x07configs\x12&\x0a\x0fnext_page_token\x18\x02 \x01(\x09R\x0dnextPageToken\"v\x0a'DeleteTaskPushNotificationConf"
    b"igRequest\x12\x16\x0a\x06tenant\x18\x01 \x01(\x09R\x06tenant\x12\x1d\x0a\x07task_id\x18\x02 \x01(\x09B\x04\xe2A"
    b"\x01\x02R\x06taskId\x12\x14\x0a\x02id\x18\x03 \x01(\x09B\x04\xe2A\x01\x02R\x02id\"5\x0a\x1bGetExtendedAgentCardRe"
    b"quest\x12\x16\x0a\x06tenant\x18\x01 \x01(\x09R\x06tenant*\xf9\x01\x0a\x09TaskState\x12\x1a\x0a\x16TASK_STATE_UNSP"
    b"ECIFIED\x10\x00\x12\x18\x0a\x14TASK_STATE_SUBMITTED\x10\x01\x12\x16\x0a\x12TASK_STATE_WORKING\x10\x02\x12\x18\x0a"
    b"\x14TASK_STATE_COMPLETED\x10\x03\x12\x15\x0a\x11TASK_STATE_FAILED\x10\x04\x12\x17\x0a\x13TASK_STATE_CANCELED\x10"
    b"\x05\x12\x1d\x0a\x19TASK_STATE_INPUT_REQUIRED\x10\x06\x12\x17\x0a\x13TASK_STATE_REJECTED\x10\x07\x12\x1c\x0a\x18T"
    b"ASK_STATE_AUTH_REQUIRED\x10\x08*;\x0a\x04Role\x12\x14\x0a\x10ROLE_UNSPECIFIED\x10\x00\x12\x0d\x0a\x09ROLE_USER"
    b"\x10\x01\x12\x0e\x0a\x0aROLE_AGENT\x10\x022\x85\x0f\x0a\x0aA2AService\x12\x83\x01\x0a\x0bSendMessage\x12\x1d.lf.a"
    b"2a.v1.SendMessageRequest\x1a\x1e.lf.a2a.v1.SendMessageResponse\"5\x82\xd3\xe4\x93\x02/\"\x0d/message:send:\x01*Z"
    b"\x1b\"\x16/{tenant}/message:send:\x01*\x12\x8d\x01\x0a\x14SendStreamingMessage\x12\x1d.lf.a2a.v1.SendMessageReque"
    b"st\x1a\x19.lf.a2a.v1.StreamResponse\"9\x82\xd3\xe4\x93\x023\"\x0f/message:stream:\x01*Z\x1d\"\x18/{tenant}/messag"
    b"e:stream:\x01*0\x01\x12k\x0a\x07GetTask\x12\x19.lf.a2a.v1.GetTaskRequest\x1a\x0f.lf.a2a.v1.Task\"4\x82\xd3\xe4"
    b"\x93\x02)\x12\x0d/tasks/{id=*}Z\x18\x12\x16/{tenant}/tasks/{id=*}\xdaA\x02id\x12i\x0a\x09ListTasks\x12\x1b.lf.a2a"
    b".v1.ListTasksRequest\x1a\x1c.lf.a2a.v1.ListTasksResponse\"!\x82\xd3\xe4\x93\x02\x1b\x12\x06/tasksZ\x11\x12\x0f/{t"
    b"enant}/tasks\x12\x80\x01\x0a\x0aCancelTask\x12\x1c.lf.a2a.v1.CancelTaskRequest\x1a\x0f.lf.a2a.v1.Task\"C\x82\xd3"
    b"\xe4\x93\x02=\"\x14/tasks/{id=*}:cancel:\x01*Z\"\"\x1d/{tenant}/tasks/{id=*}:cancel:\x01*\x12\x96\x01\x0a\x0fSubs"
    b"cribeToTask\x12!.lf.a2a.v1.SubscribeToTaskRequest\x1a\x19.lf.a2a.v1.StreamResponse\"C\x82\xd3\xe4\x93\x02=\x12"
    b"\x17/tasks/{id=*}:subscribeZ\"\x12 /{tenant}/tasks/{id=*}:subscribe0\x01\x12\xe1\x01\x0a CreateTaskPushNotificati"
    b"onConfig\x12%.lf.a2a.v1.TaskPushNotificationConfig\x1a%.lf.a2a.v1.TaskPushNotificationConfig\"o\x82\xd3\xe4\x93"
    b"\x02i\"*/tasks/{task_id=*}/pushNotificationConfigs:\x01*Z8\"3/{tenant}/tasks/{task_id=*}/pushNotificationConfigs:"
    b"\x01*\x12\xfe\x01\x0a\x1dGetTaskPushNotificationConfig\x12/.lf.a2a.v1.GetTaskPushNotificationConfigRequest\x1a%.l"
    b"f.a2a.v1.TaskPushNotificationConfig\"\x84\x01\x82\xd3\xe4\x93\x02q\x121/tasks/{task_id=*}/pushNotificationConfigs"
    b"/{id=*}Z<\x12:/{tenant}/tasks/{task_id=*}/pushNotificationConfigs/{id=*}\xdaA\x0atask_id,id\x12\xfd\x01\x0a\x1fLi"
    b"stTaskPushNotificationConfigs\x121.lf.a2a.v1.ListTaskPushNotificationConfigsRequest\x1a2.lf.a2a.v1.ListTaskPushNo"
    b"tificationConfigsResponse\"s\x82\xd3\xe4\x93\x02c\x12*/tasks/{task_id=*}/pushNotificationConfigsZ5\x123/{tenant}/"
    b"tasks/{task_id=*}/pushNotificationConfigs\xdaA\x07task_id\x12\xf5\x01\x0a DeleteTaskPushNotificationConfig\x122.l"
    b"f.a2a.v1.DeleteTaskPushNotificationConfigRequest\x1a\x16.google.protobuf.Empty\"\x84\x01\x82\xd3\xe4\x93\x02q*1/t"
    b"asks/{task_id=*}/pushNotificationConfigs/{id=*}Z<*:/{tenant}/tasks/{task_id=*}/pushNotificationConfigs/{id=*}\xda"
    b"A\x0atask_id,id\x12\x8f\x01\x0a\x14GetExtendedAgentCard\x12&.lf.a2a.v1.GetExtendedAgentCardRequest\x1a\x14.lf.a2a"
    b".v1.AgentCard\"9\x82\xd3\xe4\x93\x023\x12\x12/extendedAgentCardZ\x1d\x12\x1b/{tenant}/extendedAgentCardb\x06proto"
    b"3"
)

Task = _pool.message_class("lf.a2a.v1.Task", __name__)
TaskStatus = _pool.message_class("lf.a2a.v1.TaskStatus", __name__)
Part = _pool.message_class("lf.a2a.v1.Part", __name__)
Message = _pool.message_class("lf.a2a.v1.Message", __name__)
Artifact = _pool.message_class("lf.a2a.v1.Artifact", __name__)
TaskStatusUpdateEvent = _pool.message_class("lf.a2a.v1.TaskStatusUpdateEvent", __name__)
TaskArtifactUpdateEvent = _pool.message_class("lf.a2a.v1.TaskArtifactUpdateEvent", __name__)
TaskPushNotificationConfig = _pool.message_class("lf.a2a.v1.TaskPushNotificationConfig", __name__)
AuthenticationInfo = _pool.message_class("lf.a2a.v1.AuthenticationInfo", __name__)
AgentCard = _pool.message_class("lf.a2a.v1.AgentCard", __name__)
AgentInterface = _pool.message_class("lf.a2a.v1.AgentInterface", __name__)
AgentProvider = _pool.message_class("lf.a2a.v1.AgentProvider", __name__)
AgentCapabilities = _pool.message_class("lf.a2a.v1.AgentCapabilities", __name__)
AgentExtension = _pool.message_class("lf.a2a.v1.AgentExtension", __name__)
AgentSkill = _pool.message_class("lf.a2a.v1.AgentSkill", __name__)
AgentCardSignature = _pool.message_class("lf.a2a.v1.AgentCardSignature", __name__)
StringList = _pool.message_class("lf.a2a.v1.StringList", __name__)
SecurityRequirement = _pool.message_class("lf.a2a.v1.SecurityRequirement", __name__)
SecurityScheme = _pool.message_class("lf.a2a.v1.SecurityScheme", __name__)
APIKeySecurityScheme = _pool.message_class("lf.a2a.v1.APIKeySecurityScheme", __name__)
HTTPAuthSecurityScheme = _pool.message_class("lf.a2a.v1.HTTPAuthSecurityScheme", __name__)
OAuth2SecurityScheme = _pool.message_class("lf.a2a.v1.OAuth2SecurityScheme", __name__)
OpenIdConnectSecurityScheme = _pool.message_class("lf.a2a.v1.OpenIdConnectSecurityScheme", __name__)
MutualTlsSecurityScheme = _pool.message_class("lf.a2a.v1.MutualTlsSecurityScheme", __name__)
OAuthFlows = _pool.message_class("lf.a2a.v1.OAuthFlows", __name__)
AuthorizationCodeOAuthFlow = _pool.message_class("lf.a2a.v1.AuthorizationCodeOAuthFlow", __name__)
ClientCredentialsOAuthFlow = _pool.message_class("lf.a2a.v1.ClientCredentialsOAuthFlow", __name__)
ImplicitOAuthFlow = _pool.message_class("lf.a2a.v1.ImplicitOAuthFlow", __name__)
PasswordOAuthFlow = _pool.message_class("lf.a2a.v1.PasswordOAuthFlow", __name__)
DeviceCodeOAuthFlow = _pool.message_class("lf.a2a.v1.DeviceCodeOAuthFlow", __name__)
SendMessageRequest = _pool.message_class("lf.a2a.v1.SendMessageRequest", __name__)
SendMessageConfiguration = _pool.message_class("lf.a2a.v1.SendMessageConfiguration", __name__)
SendMessageResponse = _pool.message_class("lf.a2a.v1.SendMessageResponse", __name__)
StreamResponse = _pool.message_class("lf.a2a.v1.StreamResponse", __name__)
GetTaskRequest = _pool.message_class("lf.a2a.v1.GetTaskRequest", __name__)
ListTasksRequest = _pool.message_class("lf.a2a.v1.ListTasksRequest", __name__)
ListTasksResponse = _pool.message_class("lf.a2a.v1.ListTasksResponse", __name__)
CancelTaskRequest = _pool.message_class("lf.a2a.v1.CancelTaskRequest", __name__)
SubscribeToTaskRequest = _pool.message_class("lf.a2a.v1.SubscribeToTaskRequest", __name__)
GetTaskPushNotificationConfigRequest = _pool.message_class("lf.a2a.v1.GetTaskPushNotificationConfigRequest", __name__)
ListTaskPushNotificationConfigsRequest = _pool.message_class("lf.a2a.v1.ListTaskPushNotificationConfigsRequest", __name__)
ListTaskPushNotificationConfigsResponse = _pool.message_class("lf.a2a.v1.ListTaskPushNotificationConfigsResponse", __name__)
DeleteTaskPushNotificationConfigRequest = _pool.message_class("lf.a2a.v1.DeleteTaskPushNotificationConfigRequest", __name__)
GetExtendedAgentCardRequest = _pool.message_class("lf.a2a.v1.GetExtendedAgentCardRequest", __name__)
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
TASK_STATE_CANCELED = 5
TASK_STATE_INPUT_REQUIRED = 6
TASK_STATE_REJECTED = 7
TASK_STATE_AUTH_REQUIRED = 8

Role = _EnumTypeWrapper(DESCRIPTOR.enum_types_by_name["Role"])
ROLE_UNSPECIFIED = 0
ROLE_USER = 1
ROLE_AGENT = 2
