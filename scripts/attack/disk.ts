import { type AttackRow, withServer } from './attack.ts'

const fileBytes = 30 * 1_048_576
const mb = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MB`

/** Accounts of one network that upload until the server stops them. */
export const run = (accounts = 20): Promise<AttackRow> =>
  withServer(async ({ port }) => {
    let stored = 0
    const statuses: number[] = []
    for (let at = 0; at < accounts; at += 1) {
      const headers = { 'x-forwarded-for': `203.0.113.${at + 1}` }
      const created = await fetch(`http://127.0.0.1:${port}/accounts/create`, {
        method: 'POST',
        headers,
      })
      const { api_key: key }: { api_key: string } = JSON.parse(await created.text())
      for (let times = 0; times < 2; times += 1) {
        const form = new FormData()
        // Each file has its own content, because equal content is stored once.
        const text = `${at} ${times}`.padEnd(fileBytes, 'a')
        form.append('file', new File([text], 'a.txt'))
        const response = await fetch(`http://127.0.0.1:${port}/v1/files`, {
          method: 'POST',
          headers: { ...headers, authorization: `Bearer ${key}` },
          body: form,
        })
        await response.bytes()
        statuses.push(response.status)
        if (response.ok) stored += fileBytes
      }
    }
    const count = (status: number): number => statuses.filter((one) => one === status).length
    return {
      name: `1. Disk: ${accounts} new accounts of one network`,
      measured: `${mb(stored)} stored; ${count(200)} uploads, ${count(409)} over the account, ${count(429)} over the network`,
      bound: 'at most 256 MB a day',
      isKept: stored <= 256 * 1_048_576,
      isLimited: stored <= 256 * 1_048_576,
    }
  })
