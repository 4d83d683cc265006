// What is run in a sandbox: POSIX sh, with the few programs that Debian and BusyBox both have. Each script answers with one
// line that begins with a word of its own. Before each come the variables that it is given (`assign`).

/** Time of start of process $1, which tells it from a later one with its number; empty when there is none (proc(5)). */
const functions = `started() {
  { IFS= read -r line < "/proc/$1/stat"; } 2> /dev/null || return 0
  set -- \${line##*) }
  [ "$1" = Z ] || echo "\${20}"
}
alive() {
  [ -n "$(started "$1")" ]
}
prepared() {
  { read -r first < "$state/baseline"; } 2> /dev/null && [ -f "$state/root" ] && [ "$first" = "$(started 1)" ]
}
`

/**
 * Prepares a container: chooses the root among the `folders` (one a line), and notes which processes belong to the image.
 * Answers `root PATH`, or `missing WHAT`.
 */
export const prepareScript = `${functions}
for program in setsid head tail wc mkfifo grep base64 sleep tar node; do
  command -v "$program" > /dev/null || { echo "missing $program"; exit 0; }
done
if ! prepared; then
  rm -rf "$state/commands" "$state/root"
  while IFS= read -r folder; do
    [ -d "$folder" ] || mkdir -p "$folder" 2> /dev/null
    [ -d "$folder" ] && [ -w "$folder" ] && break
    folder=
  done << folders
$folders
folders
  [ -n "$folder" ] || { echo "missing a folder that can be written to"; exit 0; }
  started 1 > "$state/baseline"
  for process in /proc/[0-9]*; do
    number=\${process##*/}
    [ "$number" = $$ ] || [ "$number" = $PPID ] || echo "$number:$(started "$number")" >> "$state/baseline"
  done
  printf '%s' "$folder" > "$state/root"
fi
IFS= read -r folder < "$state/root" || [ -n "$folder" ] || exit 1
printf 'root %s\\n' "$folder"
`

/** Files: the names in part 1, one a line, each with its mode before it; their contents in the parts after it. */
export const stageScript = `${functions}
prepared || { echo lost; exit 0; }
cd "$(cat "$state/root")" || exit 1
number=2
while read -r mode path; do
  mkdir -p -- "$(dirname -- "$path")" || exit 1
  chmod "$mode" "$in/$number" || exit 1
  [ ! -L "$path" ] || rm -f -- "$path"
  mv -f -- "$in/$number" "$path" || exit 1
  number=$((number + 1))
done < "$in/1"
echo staged
`

/**
 * Runs beside a command and outlives whoever started it. Its input goes through a pipe, of which nothing is left once it is
 * read: an open file could be read again through /proc, even when it is removed. Its output is taken by programs that end at
 * the limit, after which the rest is read and dropped. What a command leaves behind may keep its output open: a second after
 * its end nobody waits for that any more.
 */
export const runnerScript = `folder=$1 seconds=$2 grace=$3 blocks=$4 root=$5
exec 3< "$folder/stdin" && rm -f "$folder/stdin" || exit 1
echo $$ > "$folder/runner"
ulimit -c 0
cd "$root" || exit 1
mkfifo "$folder/in" "$folder/out" "$folder/err" || exit 1
setsid sh -c 'exec cat > "$1" 2> /dev/null' sh "$folder/in" <&3 &
feeder=$!
exec 3<&-
take() {
  setsid sh -c 'ulimit -c 0; (ulimit -f "$1"; exec cat > "$2") 2> /dev/null; exec cat > /dev/null' sh "$blocks" "$1" < "$2" &
}
end() {
  kill -KILL "$1" 2> /dev/null
  kill -KILL "-$1" 2> /dev/null
}
take "$folder/stdout" "$folder/out"
one=$!
take "$folder/stderr" "$folder/err"
two=$!
setsid sh "$folder/command" < "$folder/in" > "$folder/out" 2> "$folder/err" &
child=$!
echo "$child" > "$folder/child"
setsid sh -c 'sleep "$1"; : > "$2"; kill -TERM "-$3"; sleep "$4"; kill -KILL "-$3"' sh "$seconds" "$folder/late" "$child" "$grace" &
watch=$!
wait "$child"
code=$?
end "$watch"
end "$feeder"
[ ! -f "$folder/late" ] || code=124
setsid sh -c 'sleep 1; kill -KILL "-$1" "-$2"' sh "$one" "$two" > /dev/null 2>&1 &
hurry=$!
wait "$one"
wait "$two"
end "$hurry"
rm -f "$folder/command"
echo "$code" > "$folder/code"
mv "$folder/code" "$folder/exit"
`

/**
 * The program in $command, its runner in $runner, its standard input in part 1 if it has any. To write a text costs no
 * process, which to cut a part out of the input does.
 */
export const startScript = `${functions}
prepared || { echo lost; exit 0; }
folder=$state/commands/$id
[ ! -f "$folder/runner" ] || { echo started; exit 0; }
[ ! -e "$folder" ] || rm -rf "$folder"
mkdir -p "$folder" || exit 1
printf %s "$command" > "$folder/command" && printf %s "$runner" > "$folder/run" || exit 1
if [ -f "$in/1" ]; then mv "$in/1" "$folder/stdin"; else : > "$folder/stdin"; fi || exit 1
echo "$bytes" > "$folder/bytes"
: > "$folder/stdout"
: > "$folder/stderr"
setsid sh "$folder/run" "$folder" "$seconds" "$grace" "$blocks" "$(cat "$state/root")" < /dev/null > /dev/null 2>&1 &
while ! [ -f "$folder/runner" ] && alive $!; do sleep 0.01; done
echo started
`

/** \`running\`, \`missing\`, or \`ended CODE LIMIT BYTES BYTES\` and the two outputs. */
export const observeScript = `${functions}
folder=$state/commands/$id
prepared && [ -f "$folder/runner" ] || { echo missing; exit 0; }
if ! [ -f "$folder/exit" ]; then
  ! alive "$(cat "$folder/runner")" || { echo running; exit 0; }
  [ -f "$folder/exit" ] || { echo missing; exit 0; }
fi
read -r bytes < "$folder/bytes"
printf 'ended %s %s %s %s\\n' "$(cat "$folder/exit")" "$bytes" "$(($(wc -c < "$folder/stdout")))" "$(($(wc -c < "$folder/stderr")))"
for file in stdout stderr; do
  head -c "$bytes" "$folder/$file" | base64 | tr -d '\\n'
  echo
done
`

/** Ends all that a function \`chosen\` picks by its number: TERM, then KILL once the time is up, until nothing is left. */
const endProcesses = `signal=TERM tries=0
while :; do
  left=
  for process in /proc/[0-9]*; do
    number=\${process##*/}
    [ "$number" != $$ ] && [ "$number" != 1 ] && chosen "$number" && alive "$number" && left="$left $number"
  done
  [ -n "$left" ] || break
  [ "$tries" -lt "$grace" ] || signal=KILL
  [ "$tries" -lt $((grace + 100)) ] || { echo "left$left"; exit 0; }
  [ "$tries" -ne 0 ] && [ "$signal" = TERM ] || kill "-$signal" $left 2> /dev/null
  tries=$((tries + 1))
  sleep 0.1
done
`

/**
 * A command's processes carry its mark in their environment. The runner notes the end, once it has nothing to wait for.
 */
export const stopScript = `${functions}
folder=$state/commands/$id
[ -f "$folder/runner" ] || { echo stopped; exit 0; }
chosen() {
  grep -qs "SVC_WORKSPACE_COMMAND=/$id/" "/proc/$1/environ"
}
${endProcesses}
runner=$(cat "$folder/runner")
tries=0
while [ ! -f "$folder/exit" ] && alive "$runner" && [ "$tries" -lt 100 ]; do tries=$((tries + 1)); sleep 0.1; done
echo stopped
`

/** Ends what neither belongs to the image nor is an ancestor of this script; then removes files. */
export const scrubScript = `${functions}
grace=0
above=" $$ "
number=$$
while [ "$number" -gt 1 ]; do
  IFS= read -r line < "/proc/$number/stat" || break
  set -- \${line##*) }
  number=$2
  above="$above$number "
done
chosen() {
  case "$above" in *" $1 "*) return 1 ;; esac
  ! grep -qx "$1:$(started "$1")" "$state/baseline"
}
prepared || { echo lost; exit 0; }
${endProcesses}
cd "$(cat "$state/root")" || exit 1
while IFS= read -r path; do rm -rf -- "$path" || exit 1; done < "$in/1"
rm -rf "$state/commands"
for folder in "$state/in"/*; do [ "$folder" = "$in" ] || rm -rf "$folder"; done
echo scrubbed
`
