import { deflateSync } from 'node:zlib'

import { sha256 } from '../../../kernel/ids.ts'
import { asString } from '../../../kernel/schema.ts'
import { reject } from '../error-body.ts'
import type { SentRequest } from '../upstream.ts'
import type { DemoRequest } from './request.ts'

const sideMax = 2_048
const imagesMax = 10
/** Squares in a row. */
const squares = 8

/** Generates PNG images of colored squares, the same for the same prompt. */
export function generateImages({ body, created }: DemoRequest): SentRequest {
  const prompt = asString(body.prompt)
  if (prompt === '') return reject(400, 'prompt is empty.')
  const [, across, down] = /^(\d{1,4})x(\d{1,4})$/.exec(asString(body.size)) ?? ['', '256', '256']
  const [width, height] = [Number(across), Number(down)]
  if (Math.min(width, height) < 1 || Math.max(width, height) > sideMax) {
    return reject(400, `size must be WIDTHxHEIGHT, each from 1 to ${sideMax}.`)
  }
  const n = Number(body.n ?? 1)
  if (!Number.isInteger(n) || n < 1 || n > imagesMax) {
    return reject(400, `n must be an integer from 1 to ${imagesMax}.`)
  }
  const data = Array.from({ length: n }, (_, at) => ({
    b64_json: encodePng(width, height, sha256(`${at} ${prompt}`)).toString('base64'),
  }))
  return { json: { created, data } }
}

/** Changes images: squares that depend on the images and the prompt, the same for the same form. */
export async function changeImages(form: FormData, created: number): Promise<SentRequest> {
  const images = [...form.getAll('image'), ...form.getAll('image[]')]
  const files = images.filter((image) => image instanceof File)
  if (files.length === 0) return reject(400, 'image is missing.')
  const hashes = await Promise.all(files.map(async (file) => sha256(await file.bytes())))
  const prompt = `${hashes.join(' ')} ${asString(form.get('prompt'))}`
  const { n = 1, size } = Object.fromEntries(form.entries())
  return generateImages({ model: '', body: { prompt, size, n: Number(n) }, created })
}

/** Encodes a PNG (ISO 15948) of 8-bit RGB. The hex `digits` determine the colors. */
export function encodePng(width: number, height: number, digits: string): Buffer {
  const size = Math.ceil(Math.max(width, height) / squares)
  const rowBytes = 1 + width * 3
  const rows = Buffer.alloc(height * rowBytes)
  for (let y = 0; y < height; y += 1) {
    if (y % size > 0) {
      rows.copyWithin(y * rowBytes, (y - 1) * rowBytes, y * rowBytes)
      continue
    }
    for (let x = 0; x < width; x += 1) {
      const square = Math.floor(y / size) * squares + Math.floor(x / size)
      const at = (square * 5) % (digits.length - 6)
      const color = Number.parseInt(digits.slice(at, at + 6), 16)
      rows.writeUIntBE(color, y * rowBytes + 1 + x * 3, 3)
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const framed = Buffer.alloc(named.length + 8)
  framed.writeUInt32BE(data.length, 0)
  framed.set(named, 4)
  framed.writeUInt32BE(Bun.hash.crc32(named), named.length + 4)
  return framed
}
