import { patches, script, type Vector } from '../vector.ts'

const style = (css: string, rest = ''): string => `<style>${css}</style>${rest}`
const late = (html: string): string => script(`document.body.innerHTML=${JSON.stringify(html)}`)

const svgFilter = (part: string): string =>
  `<svg><filter id=f>${part}</filter><rect filter="url(#f)" width=9 height=9 /></svg>`

/** Loads by less common elements, properties and calls. */
const rare: Vector[] = [
  { name: 'picture source', page: '<picture><source srcset="{http}"><img></picture>' },
  { name: 'video source', page: '<video autoplay muted><source src={http}></video>' },
  { name: 'input image', page: '<input type=image src={http}>' },
  { name: 'table background', page: '<table background={http}><tr><td>x</table>' },
  { name: 'SVG feImage', page: svgFilter('<feImage href={http} />') },
  { name: 'CSS image-set', page: style('body{background:image-set("{http}" 1x)}') },
  {
    name: 'CSS border image',
    page: style('p{border:9px solid;border-image:url({http}) 1}', '<p>x'),
  },
  { name: 'CSS list image', page: style('li{list-style-image:url({http})}', '<li>x') },
  { name: 'CSS shape', page: style('p{float:left;shape-outside:url({http})}', '<p>x') },
  { name: 'CSS variable', page: style('p{--a:url({http});background:var(--a)}', '<p>x') },
  {
    name: 'CSS font for one letter',
    page: style(
      '@font-face{font-family:x;src:url({http});unicode-range:U+41}p{font-family:x}',
      '<p>A',
    ),
  },
  {
    name: 'CSS by an attribute of a field',
    page: style('input[value^=a]{background:url({http})}', '<input value=abc>'),
  },
  {
    name: 'CSS @import in a layer',
    page: style('@import url({http}) layer(a) supports(color:red);'),
  },
  {
    name: 'link alternate style sheet',
    page: '<link rel="alternate stylesheet" title=a href={http}>',
  },
  {
    name: 'link preload with a set of images',
    page: '<link rel=preload as=image imagesrcset="{http} 1x">',
    live: ['chromium', 'webkit'],
  },
  { name: 'link preload as fetch', page: '<link rel=preload as=fetch crossorigin href={http}>' },
  {
    name: 'import of a style sheet',
    page: script("import('{http}',{with:{type:'css'}})"),
    live: ['chromium', 'firefox'],
  },
  { name: 'import of JSON', page: script("import('{http}',{with:{type:'json'}})") },
  {
    name: 'editor command with an image',
    page: script(
      "document.designMode='on';getSelection().selectAllChildren(document.body);document.execCommand('insertImage',false,'{http}')",
    ),
  },
  {
    name: 'link preconnect by an editor command',
    page: script(
      "document.designMode='on';getSelection().selectAllChildren(document.body);document.execCommand('insertHTML',false,'<link rel=preconnect href={http}><b>x</b>')",
    ),
    live: ['firefox'],
  },
  {
    name: 'link preconnect by XHR of a document',
    page: script(
      'const x=new XMLHttpRequest;x.open(\'GET\',URL.createObjectURL(new Blob([\'<x><link xmlns="http://www.w3.org/1999/xhtml" rel="preconnect" href="{http}"/></x>\'],{type:\'text/xml\'})));x.onload=()=>document.body.append(document.adoptNode(x.responseXML.documentElement.firstChild));x.send()',
    ),
  },
  {
    name: 'link preconnect by parseHTMLUnsafe',
    page: script(
      "document.body.append(document.adoptNode(Document.parseHTMLUnsafe('<link rel=preconnect href={http}>').querySelector('link')))",
    ),
  },
  {
    name: 'link preconnect by a clone of a template',
    page: script(
      "const t=document.createElement('template');t.innerHTML='<link rel=preconnect href={http}>';document.body.append(t.content.cloneNode(true))",
    ),
  },
  {
    name: 'artwork of a media session',
    page: `<button style="position:fixed;inset:0;width:100%">play</button>${script(
      "const b=new Uint8Array(80044).fill(99);b.set([82,73,70,70,164,56,1,0,87,65,86,69,102,109,116,32,16,0,0,0,1,0,1,0,64,31,0,0,64,31,0,0,1,0,8,0,100,97,116,97,128,56,1,0]);const a=new Audio(URL.createObjectURL(new Blob([b],{type:'audio/wav'})));a.loop=true;onclick=()=>{navigator.mediaSession.metadata=new MediaMetadata({title:'x',artwork:[{src:'{http}',sizes:'96x96',type:'image/png'}]});a.play()}",
    )}`,
    hand: 'click',
  },
]

/** Resources that a page shows or plays. */
export const loads: Vector[] = [
  ...rare,
  { name: 'img', page: '<img src={http}>' },
  { name: 'img srcset', page: '<img srcset="{http} 2x">' },
  { name: 'img by new Image', page: script("new Image().src='{http}'") },
  { name: 'img by innerHTML', page: late('<img src={http}>') },
  { name: 'img by document.write', page: script("document.write('<img src={http}>')") },
  { name: 'video', page: '<video src={http} autoplay muted></video>' },
  { name: 'video poster', page: '<video poster={http}></video>' },
  { name: 'audio', page: '<audio src={http} preload=auto></audio>' },
  { name: 'body background', page: script("document.body.background='{http}'") },
  { name: 'CSS background', page: style('body{background:url({http})}') },
  { name: 'CSS @import', page: style('@import "{http}";') },
  {
    name: 'CSS @font-face',
    page: style('@font-face{font-family:x;src:url({http})}p{font-family:x}', '<p>x'),
  },
  { name: 'FontFace', page: script("new FontFace('x','url({http})').load()") },
  { name: 'CSS content', page: style('p::before{content:url({http})}', '<p>x') },
  { name: 'CSS mask', page: style('p{mask-image:url({http})}', '<p>x') },
  { name: 'CSS cursor', page: style('body{cursor:url({http}),auto;height:100vh}'), hand: 'click' },
  {
    name: 'CSS by constructed sheet',
    page: script(
      "const s=new CSSStyleSheet;s.replaceSync('body{background:url({http})}');document.adoptedStyleSheets=[s]",
    ),
  },
  { name: 'CSS link', page: '<link rel=stylesheet href={http}>' },
  {
    name: 'CSS link by DOM',
    page: script(
      "const l=document.createElement('link');l.rel='stylesheet';l.href='{http}';document.head.append(l)",
    ),
  },
  { name: 'script', page: '<script src={http}></script>' },
  {
    name: 'script by DOM',
    page: script("const s=document.createElement('script');s.src='{http}';document.head.append(s)"),
  },
  { name: 'SVG image', page: '<svg><image href={http} width=9 height=9 /></svg>' },
  { name: 'SVG script', page: '<svg><script href={http}></script></svg>' },
  {
    name: 'SVG fill',
    page: '<svg><rect fill="url({http}#x)" width=9 height=9 /></svg>',
    live: ['chromium'],
  },
  { name: 'object', page: '<object data={http}></object>' },
  { name: 'embed', page: '<embed src={http}>' },
  { name: 'link preload', page: '<link rel=preload as=image href={http}>' },
  { name: 'link modulepreload', page: '<link rel=modulepreload href={http}>' },
  { name: 'link prefetch', page: '<link rel=prefetch href={http}>', live: ['chromium'] },
  { name: 'link preconnect', page: '<link rel=preconnect href={http}>' },
  {
    name: 'link preconnect by DOM',
    page: script(
      "const l=document.createElement('link');l.rel='preconnect';l.href='{http}';document.head.append(l)",
    ),
  },
  { name: 'link preconnect by innerHTML', page: late('<link rel=preconnect href={http}>') },
  {
    name: 'link preconnect after patches',
    page: script(`${patches}document.body.innerHTML='<link rel=preconnect href={http}>'`),
  },
  {
    name: 'link preconnect by DOMParser',
    page: script(
      "const d=new DOMParser().parseFromString('<link rel=preconnect href={http}>','text/html');document.body.append(document.adoptNode(d.querySelector('link')))",
    ),
  },
  {
    name: 'link preconnect by createDocument',
    page: script(
      "const l=document.implementation.createDocument('http://www.w3.org/1999/xhtml','link',null).documentElement;l.rel='preconnect';l.href='{http}';document.head.append(l)",
    ),
  },
  {
    name: 'link preconnect behind a prefix with a line separator',
    page: script(
      "const l=document.createElementNS('http://www.w3.org/1999/xhtml','a\\u2028:link');l.rel='preconnect';l.href='{http}';document.head.append(l)",
    ),
    live: ['firefox'],
  },
  {
    name: 'link preconnect by XML entity',
    page: script(
      "const d=new DOMParser().parseFromString('<!DOCTYPE x [<!ENTITY e \"<link xmlns=&#39;http://www.w3.org/1999/xhtml&#39; rel=&#39;preconnect&#39; href=&#39;{http}&#39;/>\">]><x>&e;</x>','text/xml');document.body.append(document.adoptNode(d.documentElement))",
    ),
  },
  {
    name: 'link preconnect by XSLT',
    page: script(
      "const p=new XSLTProcessor;const x=s=>new DOMParser().parseFromString(s,'text/xml');" +
        'p.importStylesheet(x(\'<s:stylesheet version="1.0" xmlns:s="http://www.w3.org/1999/XSL/Transform"><s:template match="/"><s:element name="link" namespace="http://www.w3.org/1999/xhtml"><s:attribute name="rel">preconnect</s:attribute><s:attribute name="href">{http}</s:attribute></s:element></s:template></s:stylesheet>\'));' +
        "document.body.append(p.transformToFragment(x('<a/>'),document))",
    ),
  },
  {
    name: 'speculation rules',
    page: script(
      'const s=document.createElement("script");s.type="speculationrules";s.textContent=' +
        '\'{"prerender":[{"urls":["{http}"]}],"prefetch":[{"urls":["{http}x"]}]}\';document.head.append(s)',
    ),
    live: ['chromium'],
    alone: true,
  },
  { name: 'base and a relative img', page: '<base href={http}><img src=x>' },
  {
    name: 'base by DOM',
    page: script(
      "const b=document.createElement('base');b.href='{http}';document.head.append(b);new Image().src='x'",
    ),
  },
  { name: 'the host as img', page: '<img src={self}/pixel?>', by: 'host' },
  { name: 'the host as script', page: '<script src={self}/s.js?></script>', by: 'host' },
]
