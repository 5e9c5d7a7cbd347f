import type { MediaPart, Message, Part, SystemMessage, TextPart } from './chat-request.ts'

const kinds = ['image', 'audio', 'video', 'file']

/** Returns whether a part is media. The id of an upload is in its source. */
export const isMedia = (part: Part): part is MediaPart => kinds.includes(part.type)

/** Returns the media of a conversation, in order. */
export const mediaIn = (messages: readonly Message[]): MediaPart[] =>
  messages.flatMap(({ content }) => content.flatMap((part) => (isMedia(part) ? [part] : [])))

/** Counts the UTF-16 code units of the texts of a conversation. */
export const countChars = (messages: readonly Message[]): number =>
  messages
    .flatMap(({ content }) => content.map((part) => (part.type === 'text' ? part.text.length : 0)))
    .reduce((sum, chars) => sum + chars, 0)

/** Returns a conversation whose media are replaced, such as uploads by their content. */
export function replaceMedia(
  messages: readonly Message[],
  replace: (media: MediaPart) => TextPart | MediaPart,
): Message[] {
  const change = (part: TextPart | MediaPart) => (isMedia(part) ? replace(part) : part)
  return messages.map((message) => {
    switch (message.role) {
      case 'user':
      case 'tool':
        return { ...message, content: message.content.map(change) }
      case 'assistant': {
        const content = message.content.map((part) => (isMedia(part) ? replace(part) : part))
        return { ...message, content }
      }
      default:
        return message
    }
  })
}

/** Returns whether a message is of the system. `developer` is OpenAI's newer name. */
export const isSystem = (message: Message): message is SystemMessage =>
  message.role === 'system' || message.role === 'developer'

/** Returns whether there is a text or a media part for a model. */
export const hasContent = (messages: readonly Message[]): boolean =>
  messages.some(({ content }) =>
    content.some((part) => isMedia(part) || (part.type === 'text' && part.text !== '')),
  )

/** Returns the id of an uploaded file of this server; undefined for other media. */
export const fileIdOf = ({ source }: MediaPart): string | undefined =>
  'fileId' in source ? source.fileId : undefined
