import { defineConfig } from 'vite';

// Static files in build/studio, which any host can serve, in any folder.
export default defineConfig({
  base: './',
  build: { outDir: '../build/studio', emptyOutDir: true, target: 'es2022', chunkSizeWarningLimit: 900 },
  worker: { format: 'es' },
  server: { fs: { allow: ['..'] } },
});
