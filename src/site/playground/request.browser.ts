import type { Mode } from '../models/modes.ts'
import type { Attachment, Turn } from './conversation.browser.ts'

/** A message of a person, with the conversation before it. */
export interface Prompt {
  mode: Mode
  model: string
  turns: Turn[]
  text: string
  files: Attachment[]
  /** The parameters of the panel by their names in the API. */
  parameters: Record<string, string | number>
}

/** Returns the body of an API request (document 2, section 4), without its file. */
export function requestBody(prompt: Prompt): Record<string, unknown> {
  const { mode, model, text, parameters } = prompt
  if (mode === 'chat') {
    const { system, ...others } = parameters
    return { model, messages: messagesOf(prompt, system), ...others }
  }
  if (mode === 'transcription') return { model, ...parameters }
  if (mode === 'speech' || mode === 'embedding') return { model, input: text, ...parameters }
  const { duration, ...others } = parameters
  return { model, prompt: text, ...others, ...(duration && { duration: String(duration) }) }
}

function messagesOf({ turns, text, files }: Prompt, system: unknown): object[] {
  const question: Turn = { role: 'user', content: text, files }
  const isSent = ({ content, files: sent }: Turn) => content !== '' || sent?.length
  const messages = [...turns, question].filter(isSent).map(messageOf)
  return system ? [{ role: 'system', content: system }, ...messages] : messages
}

function messageOf({ role, content, files = [] }: Turn): object {
  if (files.length === 0) return { role, content }
  const parts = files.map(({ id }) => ({ type: 'file', file_id: id }))
  return { role, content: [...(content ? [{ type: 'text', text: content }] : []), ...parts] }
}
