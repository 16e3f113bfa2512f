// Writes arena/static/vendor/plotly: the bundle, and the licences of everything in it.
const fs = require("node:fs");
const path = require("node:path");
const esbuild = require("esbuild");

const FOLDER = path.join(__dirname, "../../arena/static/vendor/plotly");
const { version } = require("plotly.js/package.json");

const { metafile, outputFiles } = esbuild.buildSync({
  absWorkingDir: __dirname,
  entryPoints: ["bundle.js"],
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  outfile: "plotly.min.js",
  format: "iife",
  globalName: "Plotly",
  target: "es2020",
  // As in Plotly's own esbuild-config.js, which the package has but not what it needs.
  alias: { regl: "@plotly/regl", stream: "stream-browserify" },
  define: { global: "window", "define.amd": "false" },
  legalComments: "none",
  banner: { js: `/* plotly.js v${version}: scatter, bar, box, heatmap. Licences: LICENSES.txt beside this file. */` },
});

const inside = /^node_modules\/((?:@[^/]+\/)?[^/]+)/;
const used = Object.entries(metafile.outputs["plotly.min.js"].inputs).filter(([file, { bytesInOutput }]) => file.endsWith("js") && bytesInOutput);
const packages = [...new Set(used.map(([file]) => inside.exec(file)?.[1]))];
const licences = packages.filter(Boolean).sort().map((name) => {
  const folder = path.join(__dirname, "node_modules", name);
  const { version: own, license } = require(path.join(folder, "package.json"));
  const file = fs.readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file ? fs.readFileSync(path.join(folder, file), "utf8").trim() : "";
  return `${name} ${own} (${typeof license === "string" ? license : license?.type})\n\n${text}\n`;
});

fs.mkdirSync(FOLDER, { recursive: true });
fs.writeFileSync(path.join(FOLDER, "plotly.min.js"), outputFiles.find((file) => file.path.endsWith(".js")).contents);
fs.writeFileSync(path.join(FOLDER, "LICENSES.txt"), licences.join(`\n${"-".repeat(80)}\n\n`));
