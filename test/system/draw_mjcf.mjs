// A robot drawn at random, as MJCF, for comparisons with MuJoCo: node draw_mjcf.mjs NUMBER > robot.xml.
//
// The same number gives the same robot. Bodies form trees of every kind of joint; of everything that a file can say about joints, shapes, contacts, tendons,
// equalities, motors, fluids and options each robot has a few things, drawn one by one. Nothing is tuned to be stable or sensible beyond what makes MuJoCo read it.
// Shapes are those between which it finds contacts by formulas (see compare_soft.mjs); what it would find by iterations is left out, and so are places where we
// differ on purpose (docs/bodies.md). compare_drawn.mjs compares them.
import process from 'node:process';

const number = Number(process.argv[2] ?? 1);
let state = BigInt(number) * 0xD1342543DE82EF95n & 0xFFFFFFFFFFFFFFFFn;

// ---- Chance: splitmix64 -------------------------------------------------------------------------

function unit() {
  state = (state + 0x9E3779B97F4A7C15n) & 0xFFFFFFFFFFFFFFFFn;
  let z = state;
  z = ((z ^ (z >> 30n)) * 0xBF58476D1CE4E5B9n) & 0xFFFFFFFFFFFFFFFFn;
  z = ((z ^ (z >> 27n)) * 0x94D049BB133111EBn) & 0xFFFFFFFFFFFFFFFFn;
  return Number((z ^ (z >> 31n)) >> 11n) / 2 ** 53;
}
const among = (low, high) => low + (high - low) * unit();
const r = (low, high) => Number(among(low, high).toPrecision(3));
const whole = (low, high) => Math.floor(among(low, high + 1));
const pick = (...list) => list[Math.floor(unit() * list.length)];
const maybe = (p, value) => (unit() < p ? value() : '');
const vec = (low, high, n = 3) => Array.from({length: n}, () => r(low, high)).join(' ');
const axis = () => pick('1 0 0', '0 1 0', '0 0 1', vec(-1, 1));
const quat = () => vec(-1, 1, 4);
const shuffled = (list) => list.map((x) => [unit(), x]).sort((a, b) => a[0] - b[0]).map((x) => x[1]);

// ---- Compliance ---------------------------------------------------------------------------------

const solref = (name) => maybe(0.3, () => ` ${name}="${pick(() => `${r(0.005, 0.1)} ${r(0.3, 1.5)}`, () => `${-r(100, 3000)} ${-r(1, 60)}`)()}"`);
const solimp = (name) => maybe(0.3, () => ` ${name}="${r(0.3, 0.9)} ${r(0.9, 0.99)} ${r(0.0005, 0.05)} ${r(0.2, 0.8)} ${pick(1, 2, 3, r(1, 4))}"`);

// ---- Bodies -------------------------------------------------------------------------------------

const names = {body: [], joint: [], geom: [], site: [], slide: [], ball: [], tendon: [], still: [], round: [], motor: []}; // slide: hinges too
const home = {}; // of a site or geom: the body with joints that carries it
const mover = {}; // of a body likewise
let count = 0;
const name = (kind, prefix) => {
  const it = `${prefix}${count++}`;
  names[kind].push(it);
  return it;
};

function limits(low, high, also = '') {
  return maybe(0.4, () => ` limited="true" range="${r(low, 0)} ${r(0, high)}"${maybe(0.3, () => ` margin="${r(0, 0.1)}"`)}${solref('solreflimit')}${solimp('solimplimit')}`) + also;
}

function joint(type) {
  const it = name('joint', type[0]);
  const common = maybe(0.3, () => ` damping="${r(0, 2)}"`) + maybe(0.25, () => ` stiffness="${r(0, 30)}"`) + maybe(0.3, () => ` armature="${r(0, 0.2)}"`) +
      maybe(0.2, () => ` frictionloss="${r(0, 0.5)}"${solref('solreffriction')}${solimp('solimpfriction')}`) + maybe(0.1, () => ' actuatorgravcomp="true"') +
      maybe(0.2, () => ` pos="${vec(-0.1, 0.1)}"`);
  if (type === 'ball') {
    names.ball.push(it);
    return `<joint name="${it}" type="ball"${common}${maybe(0.4, () => ` limited="true" range="0 ${r(0.2, 2)}"${solref('solreflimit')}${solimp('solimplimit')}`)}/>`;
  }
  names.slide.push(it);
  const spring = maybe(0.15, () => ` springref="${r(-0.3, 0.3)}"`) + maybe(0.1, () => ` ref="${r(-0.3, 0.3)}"`) +
      maybe(0.1, () => ` actuatorfrcrange="${r(-5, 0)} ${r(0, 5)}"`) + maybe(0.1, () => ` springdamper="${r(0.05, 0.5)} ${r(0.2, 1.5)}"`);
  return `<joint name="${it}" type="${type}" axis="${axis()}"${common}${spring}${limits(-1.5, 1.5)}/>`;
}

let touching = false;
let inFluid = false; // then a body has one shape: axes of inertia that round-off decides would turn the forces
function geom(body) {
  const type = pick('sphere', 'capsule', 'box', 'sphere', 'ellipsoid', 'cylinder');
  const size = {sphere: () => r(0.03, 0.15), capsule: () => `${r(0.03, 0.08)} ${r(0.03, 0.2)}`, box: () => vec(0.03, 0.15),
                ellipsoid: () => vec(0.03, 0.15), cylinder: () => `${r(0.03, 0.1)} ${r(0.03, 0.15)}`}[type]();
  const formula = ['sphere', 'capsule', 'box'].includes(type);
  const class1 = touching ? (formula ? ' contype="1" conaffinity="1"' : ' contype="2" conaffinity="0"') : ' contype="0" conaffinity="0"';
  const it = name('geom', 'g');
  home[it] = body;
  if (type === 'sphere' || type === 'cylinder') {
    names.round.push(it);
  }
  return `<geom name="${it}" type="${type}" size="${size}"${maybe(0.4, () => ` pos="${vec(-0.1, 0.1)}"`)}${maybe(0.4, () => ` quat="${quat()}"`)}` +
      `${pick(` density="${r(200, 2000)}"`, ` mass="${r(0.1, 3)}"`)}${class1}${maybe(0.5, () => ` friction="${r(0.1, 1.5)} ${r(0, 0.05)} ${r(0, 0.01)}"`)}` +
      `${maybe(0.5, () => ` condim="${pick(1, 3, 4, 6)}"`)}${maybe(0.2, () => ` margin="${r(0, 0.05)}"`)}${maybe(0.1, () => ` gap="${r(0, 0.02)}"`)}` +
      `${maybe(0.2, () => ` priority="${whole(0, 2)}"`)}${maybe(0.2, () => ` solmix="${r(0.1, 2)}"`)}${solref('solref')}${solimp('solimp')}` +
      `${maybe(0.1, () => ` fluidshape="ellipsoid"`)}${maybe(0.05, () => ` fluidcoef="${vec(0, 1.5, 5)}"`)}/>`;
}

function siteOf(body) {
  const it = name('site', 's');
  home[it] = body;
  return it;
}

function body(depth, room, carrier) {
  const it = name('body', 'b');
  const joints = depth === 0 && unit() < 0.35 ? ['<freejoint/>'] : shuffled([...new Set(Array.from({length: pick(0, 1, 1, 1, 1, 2, 2, 3)}, () => pick('hinge', 'hinge', 'slide', 'ball', 'hinge')))])
      .filter((t, i, all) => !(t === 'ball' && all.includes('hinge')))
      .sort((a, b) => (a === 'ball') - (b === 'ball')).map(joint); // last: where others follow, MuJoCo differentiates its axes wrongly
  const first = joints.length === 0 && depth === 0 ? [joint('hinge')] : joints;
  mover[it] = first.length > 0 ? it : carrier;
  const inside = [...first, ...Array.from({length: whole(1, inFluid ? 1 : 2)}, () => geom(mover[it])), ...Array.from({length: whole(0, 2)}, () => `<site name="${siteOf(mover[it])}" pos="${vec(-0.15, 0.15)}"${maybe(0.4, () => ` quat="${quat()}"`)}/>`)];
  for (let k = whole(0, 2); k > 0 && room.left > 0 && depth < 4; k--) {
    room.left--;
    inside.push(body(depth + 1, room, mover[it]));
  }
  return `<body name="${it}" pos="${vec(-0.3, 0.3)}"${maybe(0.4, () => ` quat="${quat()}"`)}${maybe(0.2, () => ` gravcomp="${r(0, 1.2)}"`)}>${inside.join('\n')}</body>`;
}

// ---- Everything else ----------------------------------------------------------------------------

function tendons() {
  return Array.from({length: whole(0, 2)}, () => {
    const common = limits(-0.5, 1) + maybe(0.3, () => ` stiffness="${r(0, 50)}"`) + maybe(0.3, () => ` damping="${r(0, 2)}"`) +
        maybe(0.2, () => ` frictionloss="${r(0, 0.5)}"${solref('solreffriction')}`) + maybe(0.2, () => ` springlength="${pick(r(0, 0.3), `${r(0, 0.1)} ${r(0.1, 0.4)}`)}"`);
    if (unit() < 0.5 && names.slide.length > 0) {
      const of = shuffled(names.slide).slice(0, whole(1, 3));
      return `<fixed name="${name('tendon', 't')}"${common}>${of.map((j) => `<joint joint="${j}" coef="${r(-1, 1)}"/>`).join('')}</fixed>`;
    }
    const at = shuffled(names.site).slice(0, whole(2, 5));
    if (at.length < 2) {
      return '';
    }
    const parts = at.map((s) => `<site site="${s}"/>`);
    if (names.round.length > 0 && unit() < 0.4) {
      parts.splice(1, 0, `<geom geom="${pick(...names.round)}"${maybe(0.4, () => ` sidesite="${pick(...names.site)}"`)}/>`);
    }
    if (at.length >= 4 && unit() < 0.5) {
      parts.splice(-2, 0, `<pulley divisor="${pick(2, 3)}"/>`);
    }
    return `<spatial name="${name('tendon', 't')}"${common}>${parts.join('')}</spatial>`;
  }).join('\n');
}

function equalities() {
  return Array.from({length: pick(0, 0, 1, 1, 2)}, () => {
    const common = solref('solref') + solimp('solimp') + maybe(0.1, () => ' active="false"');
    const [a, ...rest] = shuffled(names.body);
    const b = rest.find((x) => mover[x] !== mover[a]);
    const [s, ...others] = shuffled(names.site);
    const t = others.find((x) => home[x] !== home[s]);
    const [i, j] = shuffled(names.slide);
    const other = b && unit() < 0.6 ? ` body2="${b}"` : '';
    const kinds = [() => `<connect body1="${a}"${other} anchor="${vec(-0.1, 0.1)}"${common}/>`,
                   () => `<weld body1="${a}"${other}${maybe(0.4, () => ` torquescale="${r(0.1, 3)}"`)}${maybe(0.3, () => ` anchor="${vec(-0.1, 0.1)}"`)}${common}/>`];
    if (t) {
      kinds.push(() => `<${pick('connect', 'weld')} site1="${s}" site2="${t}"${common}/>`);
    }
    if (i) {
      kinds.push(() => `<joint joint1="${i}"${j && unit() < 0.6 ? ` joint2="${j}"` : ''} polycoef="${vec(-0.3, 0.3, whole(1, 5))}"${common}/>`);
    }
    if (names.tendon.length > 0) {
      kinds.push(() => `<tendon tendon1="${names.tendon[0]}"${names.tendon[1] && unit() < 0.5 ? ` tendon2="${names.tendon[1]}"` : ''} polycoef="${vec(-0.3, 0.3, whole(1, 5))}"${common}/>`);
    }
    return pick(...kinds)();
  }).join('\n');
}

function motors() {
  return Array.from({length: whole(0, 4)}, () => {
    const places = [() => names.joint.length && ` joint="${pick(...names.joint)}"`, () => names.slide.length && ` joint="${pick(...names.slide)}"`, () => names.slide.length && ` jointinparent="${pick(...names.joint)}"`,
                    () => names.tendon.length && ` tendon="${pick(...names.tendon)}"`, () => names.site.length && ` site="${pick(...names.site)}"`,
                    () => names.still.length > 0 && ` site="${pick(...names.site)}" refsite="${names.still[0]}"`, () => names.site.length > 1 && ` cranksite="${names.site[0]}" slidersite="${names.site[1]}" cranklength="${r(0.5, 1)}"`];
    const at = pick(...places)();
    if (!at) {
      return '';
    }
    // turns beside a reference are composed in another order (docs/bodies.md)
    const gear = at.includes('refsite') ? ` gear="${vec(-2, 2)} 0 0 0"` : maybe(0.5, () => ` gear="${vec(-2, 2, at.includes('site=') ? 6 : pick(1, 3))}"`);
    const limit = maybe(0.3, () => ` ctrlrange="${r(-2, 0)} ${r(0, 2)}"`) + maybe(0.3, () => ` forcerange="${r(-5, 0)} ${r(0, 5)}"`);
    const act = () => maybe(0.3, () => ` actlimited="true" actrange="${r(-1, 0)} ${r(0, 1)}"`);
    const kinds = [() => `<motor${at}${gear}${limit}/>`, () => `<position${at}${gear}${limit} kp="${r(1, 50)}"${pick('', ` kv="${r(0, 3)}"`, ` dampratio="${r(0.2, 1.5)}"`)}${maybe(0.3, () => ` timeconst="${r(0.01, 0.3)}"`)}/>`,
                   () => `<velocity${at}${gear}${limit} kv="${r(0.1, 3)}"/>`, () => `<intvelocity${at}${gear}${limit} kp="${r(1, 30)}" actrange="${r(-1, 0)} ${r(0, 1)}"/>`,
                   () => `<damper${at}${gear} kv="${r(0, 2)}" ctrlrange="0 ${r(0.5, 2)}"/>`, () => `<cylinder${at}${gear} timeconst="${r(0.02, 0.5)}" area="${r(0.5, 3)}" bias="${vec(-2, 0, 3)}"/>`,
                   () => `<muscle${at}${limit.includes('ctrl') ? '' : ''} force="${r(10, 200)}" lengthrange="${r(-0.5, 0.1)} ${r(0.3, 1)}"${maybe(0.3, () => ` timeconst="${r(0.01, 0.05)} ${r(0.03, 0.1)}"`)}${maybe(0.2, () => ` tausmooth="${r(0, 1)}"`)}/>`,
                   () => `<general${at}${gear}${limit} dyntype="${pick('integrator', 'filter', 'filterexact')}" dynprm="${r(0.02, 0.5)}" gaintype="${pick('fixed', 'affine')}" gainprm="${vec(-3, 3)}" biastype="${pick('none', 'affine')}" biasprm="${vec(-3, 1)}"${act()}/>`];
    if (at.startsWith(' site=')) {
      kinds.splice(6, 1); // no muscles there
    }
    return pick(...kinds)().replace(/^<\w+/, (word) => `${word} name="${name('motor', 'm')}"`);
  }).join('\n');
}

// Forces in joints are left out (MuJoCo counts motors on sites and lifts as transmitted by the joints), and accelerations of what cannot move (0 there).
function sensors() {
  const moving = names.site.filter((s) => !names.still.includes(s));
  return Array.from({length: whole(0, 8)}, () => {
    const of = (list, make) => list.length > 0 && make(pick(...list));
    const thing = () => {
      const [type, list] = pick(['xbody', names.body], ['xbody', names.body], ['geom', names.geom], ['site', names.site]);
      return list.length > 0 && [type, pick(...list)];
    };
    const framed = (word, relative) => {
      const own = thing();
      const other = relative && unit() < 0.4 && thing();
      return own && `<${word} objtype="${own[0]}" objname="${own[1]}"${other ? ` reftype="${other[0]}" refname="${other[1]}"` : ''}`;
    };
    const one = pick(() => of(names.slide, (j) => `<${pick('jointpos', 'jointvel', 'jointactuatorfrc')} joint="${j}"`), () => of(names.ball, (j) => `<${pick('ballquat', 'ballangvel')} joint="${j}"`),
                     () => of(names.tendon, (t) => `<${pick('tendonpos', 'tendonvel', 'tendonactuatorfrc')} tendon="${t}"`), () => of(names.motor, (m) => `<${pick('actuatorpos', 'actuatorvel', 'actuatorfrc')} actuator="${m}"`),
                     () => of(names.site, (s) => `<${pick('velocimeter', 'gyro', 'magnetometer')} site="${s}"`), () => of(moving, (s) => `<accelerometer site="${s}"`), () => of(names.body, (b) => `<${pick('subtreecom', 'subtreelinvel', 'subtreeangmom')} body="${b}"`),
                     () => framed(pick('framepos', 'framequat', 'framexaxis', 'frameyaxis', 'framezaxis', 'framelinvel', 'frameangvel'), true), () => of(names.body, (b) => `<${pick('framelinacc', 'frameangacc')} objtype="${pick('body', 'xbody')}" objname="${b}"`), () => `<${pick('clock', 'e_potential', 'e_kinetic')}`)();
    return one ? `${one}${maybe(one.includes('quat') || one.includes('axis') ? 0 : 0.15, () => ` cutoff="${r(0.1, 5)}"`)}/>` : '';
  }).join('\n');
}

function draw() {
  touching = unit() < 0.4;
  inFluid = unit() < 0.2;
  const floor = touching && unit() < 0.7 ? `<geom name="floor" type="plane" size="0 0 1" pos="0 0 ${r(-0.6, -0.1)}" contype="1" conaffinity="3" condim="${pick(1, 3, 4, 6)}"/>` : '';
  const fixed = Array.from({length: whole(0, 2)}, () => `<site name="${names.still[names.still.push(name('site', 's')) - 1]}" pos="${vec(-0.3, 0.3)}"/>`).join('');
  const room = {left: whole(0, 5)};
  const trees = Array.from({length: pick(1, 1, 2, 3)}, () => body(0, room, '')).join('\n');
  let mocap = '';
  let welded = '';
  if (unit() < 0.15) {
    mocap = `<body name="hand" mocap="true" pos="${vec(-0.3, 0.3)}"><site name="${names.still[names.still.push(name('site', 's')) - 1]}"/></body>`;
    welded = `<${pick('weld', 'connect anchor="0 0 0"')} body1="hand" body2="${pick(...names.body)}"${solref('solref')}${solimp('solimp')}/>`;
  }
  const flags = [['gravity', 0.05], ['limit', 0.04], ['frictionloss', 0.04], ['equality', 0.04], ['spring', 0.03], ['damper', 0.03], ['actuation', 0.03], ['clampctrl', 0.08], ['refsafe', 0.1], ['filterparent', 0.1], ['eulerdamp', 0.1], ['constraint', 0.02], ['warmstart', 0.1]]
      .filter(([, p]) => unit() < p).map(([flag]) => ` ${flag}="disable"`).join('');
  const fluid = !inFluid ? '' : (() => ` density="${r(0, 1000)}" viscosity="${r(0, 0.5)}"${maybe(0.5, () => ` wind="${vec(-1, 1)}"`)}`)();
  const option = `<option timestep="${pick(0.001, 0.002, 0.005, 0.01)}" cone="${pick('pyramidal', 'elliptic')}" integrator="${pick('Euler', 'RK4', 'implicit', 'implicitfast')}"` +
      `${maybe(0.3, () => ` impratio="${pick(1, 3, 10, r(0.5, 20))}"`)}${maybe(0.2, () => ` gravity="${vec(-10, 10)}"`)}${fluid}${maybe(0.1, () => ` o_margin="${r(0, 0.05)}"`)}><flag${flags}/></option>`;
  const ten = tendons();
  const eq = equalities();
  const act = motors();
  const measured = sensors();
  const exclude = names.body.length > 1 ? maybe(0.2, () => `<exclude body1="${names.body[0]}" body2="${names.body[1]}"/>`) : '';
  const pairs = home[names.geom[0]] !== home[names.geom.at(-1)] && touching ? maybe(0.2, () => `<pair geom1="${names.geom[0]}" geom2="${names.geom.at(-1)}"${maybe(0.5, () => ` condim="${pick(1, 3, 4, 6)}"`)}${maybe(0.5, () => ` friction="${vec(0.1, 1, 5)}"`)}${maybe(0.3, () => ` solreffriction="${r(0.01, 0.1)} 1"`)}${solref('solref')}${solimp('solimp')}/>`) : '';
  return `<mujoco model="drawn ${number}"><compiler angle="radian" autolimits="true"/>${option}
<worldbody>${floor}${fixed}
${trees}
${mocap}</worldbody>
<contact>${exclude}${pairs}</contact>
<tendon>${ten}</tendon>
<equality>${eq}${welded}</equality>
<actuator>${act}</actuator>
<sensor>${measured}</sensor></mujoco>`;
}

console.log(draw());
