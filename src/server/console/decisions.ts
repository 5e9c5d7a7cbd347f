import { type Html, html, type Part } from '../../kernel/html.ts'
import { decisionReasonCharsMax } from '../../kernel/limits.ts'
import { t, type Text } from '../../kernel/words/message.ts'
import { alert, button, confirmDialog, type Form, postForm, textArea } from '../../site/forms.ts'
import type { Decision } from '../operator/decisions.ts'

/** A decision that a page offers, with its effect. */
export interface DecisionOption {
  name: Decision | 'grant' | 'deny'
  label: Text
  effect: Text
  /** The hint of its reason. A decision without it asks for none. */
  reason?: Text
  isRequired?: boolean
  /** It takes something away: its button is red. */
  isDestructive?: boolean
}

/** A decision that was rejected. Others keep its typed reason, as it may no longer apply. */
interface FailedDecision {
  name: string
  why: string
  error: string | undefined
}

/** Reads the decision of a form that failed. */
export const failedDecision = (
  submitted: Form | undefined,
  error: string | undefined,
): FailedDecision | undefined =>
  submitted && { name: submitted.text('decision'), why: submitted.text('why'), error }

interface DecisionList {
  action: string
  failed?: FailedDecision | undefined
}

/**
 * The decisions about an item, each with its effect. The first is the main action of its page,
 * unless it takes something away. A decision with a reason asks for it after the
 * press, and shows its form where it was rejected. Nothing needs a script.
 */
export function decisionList(
  token: string,
  { action, failed }: DecisionList,
  options: DecisionOption[],
): Part {
  const row = (option: DecisionOption, at: number): Html => {
    const { name, label, effect, isDestructive = false } = option
    const submit = { name: 'decision', value: name }
    const isPrimary = at === 0 && !isDestructive
    const style = isDestructive ? 'quiet danger' : isPrimary ? '' : 'quiet'
    const isFailed = failed?.name === name
    const press =
      option.reason === undefined
        ? button(label, style, submit)
        : isFailed
          ? html`${reasonField(option, failed.why, failed.error)}
              <div class="actions">
                ${button(label, isDestructive ? 'danger' : '', submit)}
                <a class="button quiet" href="${action}">Cancel</a>
              </div>`
          : confirmDialog({
              label,
              question: `${label}?`,
              consequence: effect,
              fields: reasonField(option, failed?.why),
              submit,
              isDestructive,
              isPrimary,
            })
    return html`<li class="${isFailed && 'failed'}">
      <div>
        <p>${effect}</p>
        ${isFailed && option.reason === undefined && alert(failed.error)}
      </div>
      ${postForm(token, action, press, isFailed ? 'form' : 'inline')}
    </li>`
  }
  return (
    options.length > 0 &&
    html`<ul class="decisions">
      ${options.map(row)}
    </ul>`
  )
}

const reasonField = (
  { reason, isRequired = false }: DecisionOption,
  why?: string,
  error?: string,
): Html =>
  textArea({
    label: isRequired ? t('Reason') : t('Reason (optional)'),
    name: 'why',
    value: why,
    hint: reason ?? '',
    error,
    max: decisionReasonCharsMax,
    required: isRequired,
  })
