# The short way in. Everything real is in CMakeLists.txt, CMakePresets.json and tools/.
JOBS ?= 2
FUZZ_SECONDS ?= 60
PREFIX ?= /usr/local
export JOBS FUZZ_SECONDS DESTDIR

.PHONY: all demo classics docs studio install uninstall test bench fuzz format clean

all: # the library, examples, tests and benchmarks, optimised
	@tools/need build
	@tools/build-report || true # without npm reports are plain
	@tools/build release

demo: # systems, a robot, a recorded motion: summaries, plots and reports in build/demo
	@tools/need build
	@tools/build-report || true # without npm reports are plain
	@tools/build release --target zwang_cli
	@tools/demo build/release/zwang build/demo

classics: # the kernel alone, at work on a few classics
	@tools/need build
	@tools/build release --target example_classics
	@build/release/examples/classics

docs: # the documentation as pages, with a gallery of all examples, in build/site
	@tools/need docs
	@tools/build release --target zwang_cli
	@tools/make-docs build/release/zwang build/site

studio: # the library in the browser, served on http://127.0.0.1:8021/
	@tools/need studio
	@tools/build-studio
	@tools/serve-studio.mjs

install: # library, headers, program, manual page, documents, below PREFIX (and DESTDIR)
	@tools/need build
	@tools/build-report || true # without npm reports are plain
	@tools/build release --target zwang_cli zwang_shared
	@cmake --install build/release --prefix "$(PREFIX)" >/dev/null
	@sed 's,^,$(DESTDIR),' build/release/install_manifest.txt >build/release/installed.txt
	@echo "installed in $(DESTDIR)$(PREFIX): the program zwang, the library, headers, manual page, documents and examples"

uninstall: # the files of the last `make install`, and folders of zwang that are empty then
	@test -s build/release/installed.txt || { echo "nothing was installed from here"; exit 1; }
	@tr '\n' '\0' <build/release/installed.txt | xargs -0 rm -f
	@sed -n 's,^\(.*/zwang\)/.*,\1,p' build/release/installed.txt | sort -u | while read -r folder; do \
	    test ! -d "$$folder" || find "$$folder" -depth -type d -empty -delete; done
	@rm build/release/installed.txt
	@echo "uninstalled"

test: # gcc, clang, sanitizers, threads; and that the bits agree
	@tools/need test
	@tools/test-all

bench: # tables on the screen and in build/bench/*.txt
	@tools/need bench
	@tools/build release
	@tools/run-bench build/release/bench build/bench

fuzz: # FUZZ_SECONDS for each fuzzer; what it finds is kept in build/fuzz/found
	@tools/need fuzz
	@tools/build fuzz
	@tools/run-fuzz build/fuzz/fuzz

format: # let clang-format settle it
	@tools/need test
	@tools/check-format --fix

clean:
	@rm -rf build
