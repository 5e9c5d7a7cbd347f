import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { escapeHtml } from '../../kernel/text.ts'
import { hour } from '../../kernel/time.ts'
import { findBrowser, findInBrowser } from '../../testing/browsers/browser.ts'
import { PayloadBrowser } from '../../testing/browsers/payload-browser.ts'
import { FormBrowser as Visitor } from '../../testing/fixtures/form-browser.ts'
import { password } from '../../testing/fixtures/people.ts'
import { ScriptCanaries } from '../../testing/fixtures/script-canaries.ts'
import { payloads, somePayloads } from '../../testing/fixtures/script-payloads.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { getDocument, getGatewayDocument, listTextFields } from '../../testing/openapi/document.ts'
import { isThorough } from '../../testing/thorough.ts'

const ms = 1_200_000
/** The stored payloads. Each field has them all, so CI stores each way and each script once. */
const stored = isThorough ? payloads : somePayloads
const parsedMin = isThorough ? 2_900 : 700
/** The contexts in which a payload runs: in an element, in an attribute, as an address. */
const contexts: [runs: RegExp, markup: (text: string) => string][] = [
  [/<(?!bdi)\w/, (text) => `<p>${text}</p>`],
  [/^">.*<(?!bdi)\w|^" autofocus/, (text) => `<p title="${text}">x</p>`],
  [/^x on/, (text) => `<p title=${text}>x</p>`],
  [/^(?:javascript|data):/, (text) => `<a href="${text}">x</a>`],
]

describe.skipIf(findBrowser('chromium') === undefined)('user-provided text', () => {
  let poisoned: ScriptCanaries
  let browser: PayloadBrowser

  beforeAll(async () => {
    poisoned = await ScriptCanaries.open(stored)
    browser = await PayloadBrowser.open(poisoned.t)
  }, ms)
  afterAll(async () => {
    await browser.close()
    await poisoned.t.close()
  })

  test(
    'runs on a page without escaping',
    async () => {
      const page = await browser.openControl()
      const didRun = (word: string) => browser.ran.some((what) => what.startsWith(word))
      const didBoth = async () => (didRun('alert') && didRun('asks')) || undefined
      expect(await findInBrowser(didBoth, ms / 4)).toBe(true)
      await page.context().close()
    },
    ms,
  )

  test('is found in markup without escaping, and not in escaped text', async () => {
    const page = (text: string) => ({ text, csp: '' })
    for (const [runs, markup] of contexts) {
      const texts = payloads.filter((text) => runs.test(text))
      const found = await browser.findRunnable(texts.map((text) => page(markup(text))))
      expect(texts.filter((_, at) => found[at]?.length === 0)).toEqual([])
    }
    const escaped = payloads.map((text) =>
      page(`<p title="${escapeHtml(text)}">${escapeHtml(text)}</p>`),
    )
    expect((await browser.findRunnable(escaped)).flat()).toEqual([])
  })

  // scripts/soak/payloads.ts opens every page.
  test(
    `does not run on any page: ${stored.length} payloads in every field, of which 18 are opened`,
    async () => {
      browser.ran.length = 0
      expect(payloads.length).toBeGreaterThanOrEqual(300)
      for await (const { pages, turn } of poisoned.rounds()) {
        await browser.parsePages(pages)
        if (turn === 'first' || turn === 'last') await browser.openPages(pages)
      }
      expect(browser.ran).toEqual([])
      expect(browser.parsed).toBeGreaterThan(parsedMin)
      expect(browser.opened).toBeGreaterThan(150)
    },
    ms,
  )
})

/** Maps every text field of the APIs to its pages. Add new fields here. */
const fields = {
  'is in what the pages above show': `change_me.about new_agent.about add_key.name change_key.name
    add_agent_key.name publish_app.html publish_version.html publish_version.patch.diff
    publish_version.patch.edits.search publish_version.patch.edits.replace publish_app.title change_app.title
    publish_app.files.text publish_version.files.text
    publish_app.description change_app.description publish_version.note make_assets.assets.what
    review_item.text answer_review.text add_comment.text report_item.text report_item.contact
    report_person.text report_person.contact
    appeal.text create_collection.title create_collection.description change_collection.title
    change_collection.description publish_skill.skill publish_framework.skill publish_skill.files.text
    publish_framework.files.text publish_skill_version.skill publish_framework_version.skill
    publish_skill_version.files.text publish_framework_version.files.text publish_skill_version.note
    publish_framework_version.note publish_framework.steps.title publish_framework.steps.done
    publish_framework_version.steps.title publish_framework_version.steps.done change_skill.title
    change_skill.description change_framework.title change_framework.description start_run.goal
    report_step.note report_step.evidence.value report_step.evidence.note report_run.summary
    report_run.evidence.value report_run.evidence.note answer_run.text add_account_key.name
    change_account_key.name add_personal_key.name add_wallet_key.name change_wallet_key.name
    add_passkey.name change_setting.value decide.why create_share_link.name create_item_share_link.name
    report_errors.errors.text report_errors.errors.file change_profile.about register_client.client_name`,
  'is of a form that holds none': `claim_agent.code publish_app.files.path publish_version.files.path
    publish_version.patch.edits.file open_app.password change_audience.password
    change_audience.people change_audience.groups change_item_audience.password
    change_item_audience.people change_item_audience.groups set_group.people get_balance.credit_id
    add_key.models change_key.models create_batch.input_file_id publish_skill.files.path
    publish_framework.files.path publish_skill_version.files.path
    publish_framework_version.files.path publish_framework.share.asset
    publish_framework.share.network publish_framework_version.share.asset
    publish_framework_version.share.network pay_share.network add_account_key.models
    change_account_key.models change_wallet_key.models
    change_model_price.model switch_model.model create_owned_agent.handle keep_remix.as credit_payment.invoice
    credit_payment.payment decide.item give_credits.to give_credits.usd add_library.library remove_library.library
    add_passkey.answer sign_in_with_passkey.answer become_operator.code recover_account.code
    sign_up.code sign_in.password sign_up.password recover_account.password
    change_password.password change_password.newPassword close_account.password
    renew_recovery_codes.password approve_device.code approve_device.handle deny_device.code
    authorize_device.client_id get_device_token.client_id get_device_token.device_code
    approve_connector.client_id approve_connector.code_challenge
    approve_connector.code_challenge_method approve_connector.handle
    approve_connector.redirect_uri approve_connector.resource approve_connector.response_type
    approve_connector.scope approve_connector.state deny_connector.client_id
    deny_connector.code_challenge deny_connector.code_challenge_method
    deny_connector.redirect_uri deny_connector.resource deny_connector.response_type
    deny_connector.scope deny_connector.state get_oauth_token.client_id get_oauth_token.code
    get_oauth_token.code_verifier get_oauth_token.grant_type get_oauth_token.redirect_uri
    get_oauth_token.refresh_token get_oauth_token.resource get_oauth_token.scope
    revoke_oauth_token.client_id revoke_oauth_token.token revoke_oauth_token.token_type_hint`,
  'is read by programs of its account and stands on no page': `add_key.note add_key.project
    add_key.tags change_key.note change_key.project change_key.tags add_project.name
    change_project.name add_account_key.note add_account_key.project add_account_key.tags
    change_account_key.note change_account_key.project change_account_key.tags
    add_account_project.name change_account_project.name change_wallet_key.note
    change_wallet_key.project change_wallet_key.tags`,
  'is of players, who see it in the app only': `acquire_document.holder delete_records.name
    join_app.name operator_delete_records.name query_documents.orderBy.field
    query_documents.where.field set_value.key submit_score.challenge`,
  'is read by a model and stands on no page': `publish_app.prompt publish_version.prompt
    put_icon.prompt make_assets.assets.voice`,
}

/** Operations that give all their texts to a model. No page shows them. */
const readByModels =
  /^(create_(chat_completion|response|message|completion|fim_completion|embeddings|images|video|speech|transcription|translation|moderation)|count_(message|input)_tokens|(edit|vary)_images?|rerank)\./

test('covers every text field of both OpenAPI documents', async () => {
  const t = await startTestServer()
  const all = [await getDocument(t), await getGatewayDocument(t)].flatMap(listTextFields)
  const shown = all.filter((field) => !readByModels.test(field))
  const known = Object.values(fields).flatMap((names) => names.split(/\s+/))
  expect([...new Set(shown)].toSorted()).toEqual(known.toSorted())
  await t.close()
})

test(
  'rejects payloads in handles, account names and file names',
  async () => {
    const t = await startTestServer()
    const ann = await t.agent('ann')
    const id = await ann.publish()
    const visitor = new Visitor(t)
    for (const text of stored) {
      t.clock.advance(hour)
      const file = `/apps/${id}/assets/${encodeURIComponent(text)}`
      const ask = { name: text, kind: 'sprite', what: 'A buoy' }
      const responses = [
        await t.call('POST', '/keys', { body: { handle: text } }),
        await ann.call('PUT', file, { lit: true }),
        await ann.call('POST', `/apps/${id}/assets`, { assets: [ask] }),
        await ann.call('POST', '/me/hooks', { url: text }),
        await visitor.fill('/sign-up', '/sign-up', { name: text, password }),
      ]
      expect([text, ...responses.map(({ status }) => status)]).toEqual([
        text,
        ...Array(5).fill(400),
      ])
    }
    await t.close()
  },
  ms,
)
