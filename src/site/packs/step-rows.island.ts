/**
 * `<step-rows>`: adds, moves and deletes the rows of a list of steps. Fields are named by the place
 * of their row. The spare rows are for browsers without scripts; the first is the one that is
 * added.
 */
class StepRows extends HTMLElement {
  connectedCallback(): void {
    const list = this.querySelector('ol')
    const [empty, ...others] = this.querySelectorAll<HTMLLIElement>('.spare')
    if (!list || !empty) return
    for (const spare of [empty, ...others]) spare.remove()
    empty.className = ''
    this.addEventListener('click', ({ target }) => {
      const button = target instanceof Element && target.closest<HTMLElement>('[data-act]')
      if (button) this.#act(list, empty, button)
    })
    this.#number(list)
  }

  #act(list: HTMLOListElement, empty: HTMLLIElement, button: HTMLElement): void {
    const row = button.closest('li')
    const { act } = button.dataset
    if (act === 'add') list.append(document.importNode(empty, true))
    else if (act === 'up') row?.previousElementSibling?.before(row)
    else if (act === 'down') row?.nextElementSibling?.after(row)
    const next = act === 'add' ? list.lastElementChild : row?.nextElementSibling
    if (act === 'delete') row?.remove()
    this.#number(list)
    // The row that was moved keeps the focus.
    const focused =
      act === 'up' || act === 'down' ? button : firstField(next ?? list.lastElementChild)
    focused?.focus()
  }

  /** Names fields and buttons by the place of their row. */
  #number(list: HTMLOListElement): void {
    for (const [at, row] of [...list.children].entries()) {
      const place = `${at + 1}`
      for (const number of row.querySelectorAll('.place')) number.textContent = place
      for (const field of row.querySelectorAll<HTMLInputElement>('[name]')) {
        field.name = field.name.replace(/\d+/, place)
      }
    }
    const add = this.querySelector<HTMLButtonElement>('[data-act=add]')
    if (add) add.disabled = list.children.length >= Number(this.dataset['max'])
  }
}

const firstField = (row: Element | null): HTMLElement | null =>
  row?.querySelector<HTMLElement>('input:not([type=hidden])') ?? null

customElements.define('step-rows', StepRows)
