import type { Json } from '../../kernel/schema.ts'
import { parseRecord } from '../providers/response.ts'
import type { CallPart, Tool } from './chat-request.ts'

/** The schema of a tool without arguments: upstreams reject an empty one. */
export const emptySchema = { type: 'object', properties: {} }

/** Returns the schema of a tool's arguments. */
export const schemaOf = ({ parameters = {} }: Tool): Json =>
  Object.keys(parameters).length === 0 ? emptySchema : parameters

/** Parses the arguments of a call. A model may write some that are no JSON: then it sees them. */
export const parseArguments = (text: string): Json =>
  text.trim() === '' ? {} : (parseRecord(text) ?? { arguments: text })

/** Returns the arguments of a call as an object: the text of a custom tool is its `input`. */
export const argumentsOf = ({ arguments: text, isCustom }: CallPart): Json =>
  isCustom ? { input: text } : parseArguments(text)
