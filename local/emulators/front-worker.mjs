import '../../scripts/front-worker.mjs';
