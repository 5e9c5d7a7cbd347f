import { rejectRequest } from '../../kernel/errors.ts'
import { pathCharsMax, pathSegmentsMax } from './limits.ts'

/** The place of a document: a collection, such as "games" or "games/1/moves", and an id in it. */
export interface DocumentPath {
  collection: string
  id: string
}

const segment = /^(?!\.{1,2}$)[^/\p{Cc}\p{Cs}]{1,120}$/u

function segmentsOf(path: string, param: string): string[] {
  const segments = path.split('/')
  const isValid = path.length <= pathCharsMax && segments.every((part) => segment.test(part))
  if (isValid && segments.length <= pathSegmentsMax) return segments
  rejectRequest(
    `"${param}" is a path of 1 to ${pathSegmentsMax} names with slashes between them, at most ${pathCharsMax} characters.`,
    param,
  )
}

/** Parses the path of a document. Throws `bad_request`. */
export function parseDocumentPath(path: string): DocumentPath {
  const segments = segmentsOf(path, 'path')
  if (segments.length % 2 !== 0) {
    rejectRequest(`"path" names a collection. Add the id of a document: "${path}/<id>".`, 'path')
  }
  return { collection: segments.slice(0, -1).join('/'), id: segments.at(-1) ?? '' }
}

/** Returns the path of a collection. Throws `bad_request`. */
export function checkCollectionPath(path: string): string {
  if (segmentsOf(path, 'collection').length % 2 === 1) return path
  rejectRequest(`"collection" names a document. Add a collection: "${path}/<name>".`, 'collection')
}

export const pathOf = ({ collection, id }: DocumentPath): string => `${collection}/${id}`

/** Returns the player to whom a collection is private; undefined for any other collection. */
export const ownerOf = (collection: string): string | undefined =>
  /^data\/users\/([^/]+)/.exec(collection)?.[1]
