import { t } from '../words.ts'
import { create, withElements } from './ask.ts'
import { connect, untilEnd } from './live-calls.ts'
import { controllersMax, newCode, Pads, readLayout, roomOf } from './pads.ts'
import type { Handler } from './receiver.ts'
import { JoinedRoom } from './room.ts'

/** A computer that has no other name for itself. No phone reaches it there. */
const isLocal = /^(?:localhost|127\.|\[::1\])/.test(location.hostname)

/** Shows the code of the controllers above the app, where no app draws. */
class CodeBar {
  readonly #bar = create('section', [], { id: 'phones' })
  readonly #count = create('p', [], { className: 'small' })

  constructor(app: string, code: string) {
    const path = `/a/${app}/controller`
    const image = create('img', [], {
      src: `/a/${app}/qr.svg?controller=${code}`,
      alt: t('QR code'),
    })
    image.width = image.height = 116
    const words = create('p', [
      create('strong', [t('Play with phones.')]),
      ' ',
      ...withElements(t('Scan the code, or open <address> and enter <code>'), {
        '<address>': create('b', [location.host + path], { dir: 'ltr' }),
        '<code>': create('b', [code], { className: 'code', dir: 'ltr' }),
      }),
    ])
    const hint = t(
      'Phones cannot reach “localhost”. Open this page by the address of this computer.',
    )
    const parts = [words, ...(isLocal ? [create('p', [hint], { className: 'small' })] : [])]
    const close = create('button', [t('Hide')])
    close.addEventListener('click', () => this.hide())
    this.#count.setAttribute('role', 'status')
    this.#bar.setAttribute('aria-label', t('Phones as controllers'))
    this.#bar.append(image, create('div', [...parts, this.#count]), close)
    this.count(0)
  }

  count(phones: number): void {
    this.#count.textContent = t('{phones} of {max} phones are connected.', {
      phones,
      max: controllersMax,
    })
  }

  async show(): Promise<void> {
    // The bar is no part of a full screen, which only has the app.
    if (document.fullscreenElement) await document.exitFullscreen().catch(() => undefined)
    document.querySelector('main')?.before(this.#bar)
  }

  hide(): void {
    this.#bar.remove()
    document.querySelector('iframe')?.focus()
  }
}

/** The call of a page that has phones as controllers. The code ends with it. */
export const controllerCalls: Record<string, Handler> = {
  async 'room.controller'(input, call) {
    const layout = readLayout(input)
    const live = await connect(call, 'room')
    const code = newCode()
    const bar = new CodeBar(call.app, code)
    return untilEnd(call, (fail) => {
      const pads = new Pads(layout, (event) => call.send(event))
      const room = new JoinedRoom(roomOf(code), () => undefined)
      const joined = live.join(room.name, pads.presence, {
        event: (event) => room.take(event),
        fail: (error) => {
          joined.leave()
          bar.hide()
          fail(error)
        },
      })
      let isOpen = false
      room.onPeers(({ peers }) => {
        if (!isOpen) {
          isOpen = true
          void bar.show()
          call.send(null)
        }
        if (!pads.take(peers)) return
        bar.count(pads.size)
        joined.setPresence(pads.presence)
      })
      call.listen((event) => void (event === 'show' ? bar.show() : bar.hide()))
      return () => {
        joined.leave()
        bar.hide()
      }
    })
  },
}
