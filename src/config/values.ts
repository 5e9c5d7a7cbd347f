/** What a setting may be: `read` answers undefined for a text that is none, `takes` tells it. */

import { familyOf } from '../core/address.ts'
import { fromUsd, type NanoUsd } from '../core/money.ts'

export const whole = (min: number, max: number) => ({
  takes: `a whole number from ${min} to ${max}`,
  read: (text: string): number | undefined => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : undefined
  },
})

export const wholeOrNone = (max: number) => ({
  takes: `nothing, or ${whole(0, max).takes}`,
  read: (text: string): number | null | undefined =>
    text === '' ? null : whole(0, max).read(text),
})

export const onOff = {
  takes: 'on or off',
  read: (text: string): boolean | undefined =>
    text === 'on' ? true : text === 'off' ? false : undefined,
}

export const words = {
  takes: 'a text of at most 1,000 characters',
  read: (text: string): string | undefined => (text.length <= 1_000 ? text : undefined),
}

export const folder = {
  takes: 'the path of a folder',
  read: (text: string): string | undefined => (text === '' ? undefined : words.read(text)),
}

export const headerName = {
  takes: 'the name of a header, such as Remote-User',
  read: (text: string): string | undefined => (/^[\w-]{0,100}$/.test(text) ? text : undefined),
}

export const addresses = {
  takes: 'addresses (no ranges) with commas between',
  read: (text: string): string[] | undefined => {
    const found = text.split(',').flatMap((part) => part.trim() || [])
    return found.every((part) => familyOf(part) !== 0) ? found : undefined
  },
}

export const host = {
  takes: 'an address or a name to listen on',
  read: (text: string): string | undefined => (/^[\w.:-]{1,253}$/.test(text) ? text : undefined),
}

export const oneOf = <const T extends string>(...options: T[]) => ({
  takes: options.join(' or '),
  read: (text: string): T | undefined => options.find((option) => option === text),
})

/** An address without a slash at its end, or nothing. */
export const address = {
  takes: 'an http:// or https:// address, without a query',
  read: (text: string): string | undefined => {
    if (text === '') return ''
    const url = URL.parse(text)
    if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) return undefined
    return url.href.replace(/\/$/, '')
  },
}

/** The address of a whole host, or nothing: its pages know no prefix. */
export const site = {
  takes: 'an http:// or https:// address without a path',
  read: (text: string): string | undefined => {
    const found = address.read(text)
    return found && new URL(found).pathname !== '/' ? undefined : found
  },
}

/** An address as it is written: an issuer's slash at the end is a part of its name. */
export const issuer = {
  takes: address.takes,
  read: (text: string): string | undefined => (address.read(text) === undefined ? undefined : text),
}

export const isPostgresUrl = (text: string): boolean => /^postgres(ql)?:\/\//.test(text)

export const database = {
  takes: 'a postgres:// address, or nothing for SQLite in the data folder',
  read: (text: string): string | undefined =>
    text === '' || isPostgresUrl(text) ? text : undefined,
}

export const usd = {
  takes: 'USD, such as 0.005',
  read: (text: string): string | undefined =>
    /^\d{1,4}(\.\d{1,15})?$/.test(text) ? text : undefined,
}

/** An amount that is spent, not a price per unit: read to Nano. */
export const amountUsd = {
  takes: 'USD, such as 5 or 0.50',
  read: (text: string): NanoUsd | undefined =>
    /^\d{1,6}(\.\d{1,9})?$/.test(text) ? fromUsd(text) : undefined,
}

/** As Ollama's own variable is written: "127.0.0.1" is http and its port 11434. */
export function ollamaAddress(text: string): string | undefined {
  if (text.includes('://')) return address.read(text)
  return address.read(/:\d+$/.test(text) ? `http://${text}` : `http://${text}:11434`)
}
