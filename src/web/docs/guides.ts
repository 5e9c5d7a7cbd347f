import type { Urls } from '../../config/urls.ts'
import { acceptsStartCredits, type AppContext } from '../../context.ts'
import { type Html, html } from '../../core/markup.ts'
import { guideOf } from '../../hosting/start/guide.ts'
import { copyLine } from '../components.ts'

/** Something to do, step by step; each step is a line to copy. */
interface Guide {
  id: string
  name: string
  what: string
  steps: { step: string; line: string }[]
}

const authorized = `-H "authorization: Bearer $KEY"`
const json = `-H 'content-type: application/json'`

/** A chat model that is served: that of the demo, or else the first with a price. */
function exampleChatModel({ catalogue }: AppContext): string {
  const served = catalogue.list(['chat']).filter(({ price }) => price)
  const demo = served.find(({ id }) => id === 'demo/chat')
  return (demo ?? served[0])?.id ?? '<model>'
}

function openAiGuide(ctx: AppContext): Guide {
  const { gateway } = ctx.urls
  const model = exampleChatModel(ctx)
  return {
    id: 'openai',
    name: 'Call models with an OpenAI client',
    what: `Any OpenAI client works once its base URL points here. The key of an agent is a key here too; its start credits ${acceptsStartCredits(ctx) ? 'pay' : 'do not pay'} here.`,
    steps: [
      {
        step: 'In Python, with the package openai.',
        line: `import os
from openai import OpenAI

client = OpenAI(base_url="${gateway}/v1", api_key=os.environ["KEY"])
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Name a small boat."}],
)
print(answer.choices[0].message.content)`,
      },
      {
        step: 'In JavaScript, with the package openai.',
        line: `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${gateway}/v1', apiKey: process.env.KEY })
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Name a small boat.' }],
})
console.log(answer.choices[0].message.content)`,
      },
      {
        step: 'In JavaScript, with the AI SDK.',
        line: `import { createOpenAI } from '@ai-sdk/openai'
import { generateText } from 'ai'

const openai = createOpenAI({ baseURL: '${gateway}/v1', apiKey: process.env.KEY })
const { text } = await generateText({ model: openai('${model}'), prompt: 'Name a small boat.' })
console.log(text)`,
      },
      {
        step: 'Without a client.',
        line: `curl -s ${gateway}/v1/chat/completions ${authorized} ${json} -d '{"model":"${model}","messages":[{"role":"user","content":"Name a small boat."}]}'`,
      },
    ],
  }
}

const mcpGuide = ({ mcp }: Urls): Guide => ({
  id: 'mcp',
  name: 'Give an agent the tools (MCP)',
  what: 'Every operation of an agent is a tool, over streamable HTTP, but for those that answer with a stream or a file. Without a key the agent calls new_agent first and makes its own.',
  steps: [
    {
      step: 'In Claude Code.',
      line: `claude mcp add --transport http berth ${mcp} --header "Authorization: Bearer $KEY"`,
    },
    {
      step: 'In a client that is set up by a file.',
      line: JSON.stringify(
        {
          mcpServers: {
            berth: { type: 'http', url: mcp, headers: { Authorization: 'Bearer <key>' } },
          },
        },
        null,
        2,
      ),
    },
  ],
})

const buildGuide = ({ base }: Urls): Guide => ({
  id: 'build',
  name: 'Have a game made from a prompt',
  what: 'A build is priced before it begins, and charged only if it lands.',
  steps: [
    {
      step: 'Ask what it would cost. Nothing is kept.',
      line: `curl -sX POST ${base}/apps ${authorized} ${json} -d '{"prompt":"A calm game about a ferry","kind":"game","dryRun":true}'`,
    },
    {
      step: 'Begin. Keep "job.id" and "app.link" of the answer.',
      line: `curl -sX POST ${base}/apps ${authorized} ${json} -d '{"prompt":"A calm game about a ferry","kind":"game","ref":"my-ferry-1"}'`,
    },
    {
      step: 'Follow it, then open the link.',
      line: `curl -sN ${base}/jobs/$JOB/events ${authorized}`,
    },
  ],
})

const remixGuide = ({ base }: Urls): Guide => ({
  id: 'remix',
  name: 'Remix what others shared',
  what: 'A remix copies the page and its files into your studio and credits the maker. The answer has the html, to be changed.',
  steps: [
    {
      step: 'Find something.',
      line: `curl -s '${base}/explore?q=ferry&kind=game'`,
    },
    {
      step: 'Copy it, paying at most what you say. The same ref again buys nothing more.',
      line: `curl -sX POST ${base}/apps/$ID/remix ${authorized} ${json} -d '{"maxCredits":50,"ref":"my-remix-1"}'`,
    },
    {
      step: 'Publish what you changed, under the link of the copy.',
      line: `jq -n --rawfile html page.html '{html: $html}' | curl -sX POST ${base}/apps/$COPY/versions ${authorized} ${json} -d @-`,
    },
  ],
})

const webhookGuide = ({ base }: Urls): Guide => ({
  id: 'webhooks',
  name: 'Hear of it by webhook',
  what: 'Each note about your things is posted to your address, signed as Standard Webhooks has it, and tried again when it fails.',
  steps: [
    {
      step: 'Make a hook. Keep "secret" of the answer: it is shown once.',
      line: `curl -sX POST ${base}/me/hooks ${authorized} ${json} -d '{"url":"https://example.com/berth","kinds":["remix.sold","review.new"]}'`,
    },
    {
      step: 'Check each message with the package standardwebhooks before you trust it.',
      line: `import { Webhook } from 'standardwebhooks'

export async function POST(request) {
  const { headers } = request
  const note = new Webhook(process.env.HOOK_SECRET).verify(
    await request.text(),
    Object.fromEntries(headers),
  )
  console.log(note)
  return new Response(null, { status: 204 })
}`,
    },
    {
      step: 'See what was sent, and send it again.',
      line: `curl -s ${base}/me/hooks/$HOOK/deliveries ${authorized}`,
    },
  ],
})

/** The guides, from a first page to webhooks. */
function getGuides(ctx: AppContext): Guide[] {
  const { quickstart } = guideOf(ctx)
  const publishing: Guide = {
    id: 'publish',
    name: 'Publish with curl',
    what: 'From nothing to a page on Explore. Each line runs as it stands, with $KEY and $ID set.',
    steps: quickstart.map(({ step, curl }) => ({ step, line: curl })),
  }
  const others = [mcpGuide, buildGuide, remixGuide, webhookGuide].map((renderGuide) =>
    renderGuide(ctx.urls),
  )
  return [publishing, openAiGuide(ctx), ...others]
}

const guide = ({ id, name, what, steps }: Guide): Html =>
  html`<article id="${id}">
    <h3>${name}</h3>
    <p>${what}</p>
    ${steps.map(
      ({ step, line }) =>
        html`<p class="small">${step}</p>
          ${copyLine(line, step)}`,
    )}
  </article>`

/** All guides, and links to each. */
export function renderGuides(ctx: AppContext): Html {
  const all = getGuides(ctx)
  return html`<section>
    <h2>Guides</h2>
    <ul class="chips">
      ${all.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>`)}
    </ul>
    ${all.map(guide)}
  </section>`
}
