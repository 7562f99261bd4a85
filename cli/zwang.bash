# Completion of zwang for bash: commands, options, methods, files, parameters of the file.

# _zwang_params FILE PREFIX: the names on its `param` lines.
_zwang_params() {
    sed -n 's/#.*//; s/^[[:blank:]]*param[[:blank:]]//p' "$1" 2>/dev/null |
        grep -oE '(^|,)[[:blank:]]*[A-Za-z_][A-Za-z0-9_]*[[:blank:]]*=' |
        tr -d ', \t='
}

# _zwang_files WORD ENDING...: folders, and files with these endings.
_zwang_files() {
    local word=$1 ending
    shift
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(
        compgen -d -- "$word"
        for ending; do
            compgen -f -X "!*.$ending" -- "$word"
        done
    )
}

_zwang_words() {
    mapfile -t COMPREPLY < <(compgen -W "$2" -- "$1")
}

_zwang() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    local file='' i
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _zwang_words "$word" "run explain look check certify inverse fit optimise rest modes sweep limit export view help --help --version"
        return
    fi
    for ((i = 2; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == *.zw ]] && file=${COMP_WORDS[i]}
    done
    for ((i = COMP_CWORD + 1; i < ${#COMP_WORDS[@]}; i++)); do
        [[ -z $file && ${COMP_WORDS[i]} == *.zw ]] && file=${COMP_WORDS[i]}
    done
    case $before in
    --method) _zwang_words "$word" "dop853 variational variational4 midpoint rk4 euler stiff impulse soft" ;;
    --contact) _zwang_words "$word" "coulomb convex soft" ;;
    --contacts) _zwang_words "$word" "all none" ;;
    --set | --over | --vary)
        [[ -n $file ]] || return
        compopt -o nospace 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -S = -W "$(_zwang_params "$file")" -- "$word")
        ;;
    --every) _zwang_words "$word" "step" ;;
    -o | --output) _zwang_files "$word" csv h5 svg html ;;
    --plot) _zwang_files "$word" svg ;;
    --report) _zwang_files "$word" html ;;
    --save) _zwang_files "$word" state ;;
    --impact) _zwang_words "$word" "sequential simultaneous" ;;
    --metric) _zwang_words "$word" "identity" ;;
    --law) _zwang_words "$word" "nonholonomic vakonomic mixed,alpha=1,beta=1 penalty,N=1e4" ;;
    -t | --time | --tol | --accuracy | --step | --at | --key | --from | --to | --noise | --column | --keep | --after | --samples | --seed | --threads | --port | --sigma | =) ;;
    *)
        case $command in
        help) _zwang_words "$word" "run explain look check certify inverse fit optimise rest modes sweep limit export view" ;;
        run | explain | look | check | certify | inverse | fit | optimise | rest | modes | sweep | limit | export | view)
            if [[ $word == -* ]]; then
                case $command in
                run) _zwang_words "$word" "--time --tol --accuracy --method --step --every --set --key --maximal --base --package --balance --sleep --memoryless --contact --contacts --impact --from --save --digits --hash --json --plain --output --plot --report --quiet --help" ;;
                explain) _zwang_words "$word" "--at --json --all --set --key --maximal --base --package --balance --contact --impact --tol --method --step --help" ;;
                look) _zwang_words "$word" "--frame --at --json --all --set --key --maximal --base --package --balance --contact --impact --tol --method --step --help" ;;
                check) _zwang_words "$word" "--set --key --maximal --base --package --balance --impact --quiet --help" ;;
                certify) _zwang_words "$word" "--column --noise --metric --law --set --output --plot --report --json --quiet --help" ;;
                inverse) _zwang_words "$word" "--drive --column --noise --set --key --maximal --base --package --balance --output --plot --report --json --all --quiet --help" ;;
                optimise) _zwang_words "$word" "--time --set --tol --method --step --json --quiet --help" ;;
                fit) _zwang_words "$word" "--vary --sigma --column --set --tol --method --step --output --plot --report --json --quiet --help" ;;
                rest) _zwang_words "$word" "--set --key --maximal --base --package --balance --json --all --help" ;;
                modes) _zwang_words "$word" "--at --period --set --key --maximal --base --package --balance --tol --method --step --json --all --help" ;;
                sweep) _zwang_words "$word" "--over --keep --after --samples --seed --threads --time --tol --accuracy --method --step --every --set --key --maximal --base --package --balance --sleep --memoryless --contact --impact --output --plot --report --quiet --help" ;;
                export) _zwang_words "$word" "--base --package --balance --quiet --help" ;;
                view) _zwang_words "$word" "--set --key --port --quiet --help" ;;
                limit) _zwang_words "$word" "--from --to --time --tol --method --step --every --set --output --plot --report --quiet --help" ;;
                esac
            elif [[ ($command == certify || $command == inverse || $command == fit) && -n $file ]]; then
                _zwang_files "$word" csv h5 hdf5
            else
                _zwang_files "$word" zw xml urdf
            fi
            ;;
        esac
        ;;
    esac
}

complete -F _zwang zwang
