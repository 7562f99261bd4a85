import { defineConfig } from 'vite';

// The script of a report, and that of its view in space, each in one file: build/report. src/record/html.c puts them into
// pages, where no text may close an element.
export default defineConfig(({ mode }) => ({
  build: {
    outDir: process.env.ZW_REPORT ?? '../build/report', emptyOutDir: false, target: 'es2022', chunkSizeWarningLimit: 900, cssCodeSplit: false,
    lib: { entry: mode === 'space' ? 'src/report-space.ts' : 'src/report.ts', formats: ['iife'], name: 'zwang', fileName: () => (mode === 'space' ? 'space.js' : 'report.js'), cssFileName: 'report' },
  },
  plugins: [{
    name: 'inline', generateBundle: (_: unknown, files: Record<string, { type: string; code?: string }>) => {
      for (const file of Object.values(files)) if (file.code) file.code = file.code.replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '<\\!--');
    },
  }],
}));
