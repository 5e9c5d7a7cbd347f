import { type Static, Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { wholeQuery } from '../../kernel/http/list-query.ts'
import {
  anyObject,
  lenientObject,
  mediaSchema,
  namedObject,
  nullable,
  oneOf,
} from '../../kernel/schema.ts'
import { responseItemsPageMax } from '../limits.ts'
import { listSchema } from '../list.ts'
import { maxTokensSchema, modelSchema, typedSchema } from '../request-schemas.ts'

const string: OpenAPIV3.SchemaObject = { type: 'string' }
const searchSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['type'],
  properties: { type: { type: 'string', pattern: '^web_search(_preview)?(_[0-9_]+)?$' } },
}
const partsSchema: OpenAPIV3.SchemaObject = {
  oneOf: [
    string,
    {
      type: 'array',
      items: {
        anyOf: [
          typedSchema('input_text', { text: string }),
          typedSchema('output_text', { text: string }),
          typedSchema('refusal', { refusal: string }),
          typedSchema('input_image', { image_url: string }),
          typedSchema('input_image', { file_id: string }),
          typedSchema('input_file', { file_data: string }),
          typedSchema('input_file', { file_id: string }),
          typedSchema('input_audio', { input_audio: anyObject }),
        ],
      },
    },
  ],
}

const named = { name: { type: 'string', minLength: 1 } } as const
const clientTools = [
  typedSchema('function', named),
  typedSchema('custom', named),
  typedSchema('tool_search'),
]
const toolSchema: OpenAPIV3.SchemaObject = {
  anyOf: [
    ...clientTools,
    typedSchema('namespace', {
      name: string,
      tools: { type: 'array', items: { anyOf: clientTools } },
    }),
    searchSchema,
  ],
}
const choiceSchema: OpenAPIV3.SchemaObject = {
  anyOf: [
    typedSchema('function', { name: string }),
    typedSchema('custom', { name: string }),
    searchSchema,
  ],
}

/** An item of the input. input.ts knows more about each. */
const itemSchema: OpenAPIV3.SchemaObject = {
  anyOf: [
    {
      ...anyObject,
      required: ['role', 'content'],
      properties: {
        type: { type: 'string', enum: ['message'] },
        role: { type: 'string', enum: ['user', 'assistant', 'system', 'developer'] },
        content: partsSchema,
      },
    },
    typedSchema('function_call', { call_id: string, name: string, arguments: string }),
    typedSchema('custom_tool_call', { call_id: string, name: string, input: string }),
    typedSchema('tool_search_call', { call_id: string }),
    typedSchema('function_call_output', { call_id: string, output: partsSchema }),
    typedSchema('custom_tool_call_output', { call_id: string, output: partsSchema }),
    typedSchema('tool_search_output', { call_id: string }),
    typedSchema('reasoning'),
    typedSchema('item_reference', { id: string }),
  ],
}

/** The documented Responses request. The body is parsed by hand. */
export const responsesRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'input'],
  properties: {
    model: modelSchema('An id from GET /v1/models, optionally with :floor or :nitro.'),
    input: {
      oneOf: [{ type: 'string' }, { type: 'array', minItems: 1, items: itemSchema }],
      description:
        'A string, or items: message, calls and outputs of functions, custom tools and tool ' +
        'searches, reasoning, or an item_reference to an item of the last hour.',
    },
    instructions: { type: 'string', nullable: true },
    tools: {
      type: 'array',
      items: toolSchema,
      description:
        'Tools of the type function, custom, web_search or tool_search, or namespaces of functions.',
    },
    tool_choice: { oneOf: [{ type: 'string', enum: ['auto', 'none', 'required'] }, choiceSchema] },
    max_output_tokens: { ...maxTokensSchema, nullable: true },
    text: {
      ...anyObject,
      properties: {
        format: {
          oneOf: [
            typedSchema('text'),
            typedSchema('json_object'),
            typedSchema('json_schema', { schema: anyObject }),
          ],
        },
      },
      description: 'The format: text, json_object or json_schema.',
    },
    reasoning: { ...anyObject, description: 'The effort.' },
    stream: { type: 'boolean', nullable: true },
    store: {
      type: 'boolean',
      nullable: true,
      description:
        'Stores the response, where the server does (RESPONSES_KEPT_DAYS): then the default is ' +
        '`true`. `false` also disables references to its items by id.',
    },
    previous_response_id: {
      type: 'string',
      nullable: true,
      description: 'A stored response, whose conversation the input continues.',
    },
  },
}

/** Settings of the request that a response repeats, with the types of OpenAI. */
const repeated =
  'background frequency_penalty instructions max_output_tokens metadata parallel_tool_calls ' +
  'presence_penalty previous_response_id reasoning store temperature text tool_choice tools ' +
  'top_logprobs top_p truncation'

export const ResponseSchema = namedObject('Response', {
  ...Object.fromEntries(repeated.split(' ').map((name) => [name, Type.Unknown()])),
  id: Type.String(),
  object: Type.Literal('response'),
  created_at: Type.Number(),
  completed_at: nullable(Type.Number()),
  status: Type.String({
    description: 'completed, or incomplete at the limit of max_output_tokens.',
  }),
  error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
  incomplete_details: nullable(Type.Object({ reason: Type.String() })),
  model: nullable(Type.String()),
  output: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
    description: 'Items: message, function_call, custom_tool_call, tool_search_call, reasoning.',
  }),
  usage: Type.Object({
    input_tokens: Type.Number(),
    input_tokens_details: Type.Record(Type.String(), Type.Number()),
    output_tokens: Type.Number(),
    output_tokens_details: Type.Record(Type.String(), Type.Number()),
    total_tokens: Type.Number(),
    cost: Type.Number({ description: 'USD' }),
  }),
})

export const DeletedResponseSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('response'),
  deleted: Type.Literal(true),
})

export const InputItemsSchema = listSchema(Type.Record(Type.String(), Type.Unknown()))

export const InputItemsQuerySchema = lenientObject({
  limit: Type.Optional(wholeQuery(responseItemsPageMax, `1 to ${responseItemsPageMax}.`)),
  order: Type.Optional(oneOf(['asc', 'desc'])),
  after: Type.Optional(Type.String({ description: 'Last id of the previous page.' })),
})
export type InputItemsQuery = Static<typeof InputItemsQuerySchema>

export const GetResponseQuerySchema = lenientObject({ stream: Type.Optional(Type.String()) })

export const EventsSchema = mediaSchema('text/event-stream', {
  description: 'With `stream`: events, the last of which is response.completed.',
})

/** The estimate of a request's input tokens. */
export const InputTokensSchema = namedObject('InputTokens', {
  object: Type.Literal('response.input_tokens'),
  input_tokens: Type.Integer(),
})
