import { isRecord, type Json } from '../../kernel/schema.ts'
import { parseRecord } from '../providers/response.ts'
import type { CallPart, ChatRequest, Tool, ToolChoice } from './chat-request.ts'

/** The schema of a tool without arguments: upstreams reject an empty one. */
export const emptySchema = { type: 'object', properties: {} }

/** Reads the fields that OpenAI's functions and output formats share. */
export const readAbout = ({ name, description, strict }: Json) => ({
  ...(typeof name === 'string' && { name }),
  ...(typeof description === 'string' && { description }),
  ...(typeof strict === 'boolean' && { isStrict: strict }),
})

/** Reads a function of OpenAI. */
export const readFunction = ({ parameters, ...about }: Json): Tool => ({
  name: '',
  ...readAbout(about),
  ...(isRecord(parameters) && { parameters }),
})

/** Returns the schema of a tool's arguments. */
export const schemaOf = ({ parameters = {} }: Tool): Json =>
  Object.keys(parameters).length === 0 ? emptySchema : parameters

/** Returns the tools among which the model may choose. */
export const allowedTools = ({ tools, toolChoice }: Pick<ChatRequest, 'tools' | 'toolChoice'>) =>
  typeof toolChoice === 'object'
    ? tools.filter(({ name }) => toolChoice.names.includes(name))
    : tools

/** Returns whether the model may, must or must not call a tool. */
export const modeOf = (choice: ToolChoice = 'auto') =>
  typeof choice === 'string' ? choice : choice.mode

/** Parses the arguments of a call. A model may write some that are no JSON: then it sees them. */
export const parseArguments = (text: string): Json =>
  text.trim() === '' ? {} : (parseRecord(text) ?? { arguments: text })

/** Returns the arguments of a call as an object: the text of a custom tool is its `input`. */
export const argumentsOf = ({ arguments: text, isCustom }: CallPart): Json =>
  isCustom ? { input: text } : parseArguments(text)
