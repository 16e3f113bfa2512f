// The trace types that figures use, beside scatter, which is in every bundle.
const Plotly = require("plotly.js/lib/core");

Plotly.register([require("plotly.js/lib/bar"), require("plotly.js/lib/box"), require("plotly.js/lib/heatmap")]);

module.exports = Plotly;
