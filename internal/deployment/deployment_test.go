// Package deployment holds the files of infra that start several servers to what they claim:
// compose.yml, and the resources for Kubernetes.
//
// No container runs in its tests. Compose's own library reads the one file, and a table of all
// kinds of resources checks the others; then the processes that they describe are started side by
// side, with the arguments and the environment from the files.
package deployment

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/nginxtest"
	"github.com/talkback/talkback/internal/provisiontest"
	"github.com/talkback/talkback/internal/redistest"
	"github.com/talkback/talkback/internal/servertest"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// patience bounds every wait for a condition. Only a failing test uses it up.
const patience = 2 * time.Minute

// token is a moderator's.
const token = "0123456789abcdef0123456789abcdef"

// service is what the tests need of one in compose.yml, as Compose reads it.
type service struct {
	Image, User string
	Command     []string
	Environment map[string]string
	HealthCheck struct{ Test []string }
	Networks    map[string]struct {
		Address string `json:"ipv4_address"`
	}
	Volumes []struct{ Type, Source string }
	Ports   []struct {
		Host string `json:"host_ip"`
	}
}

// TestCompose starts what compose.yml describes, but for Grafana and Prometheus: what nginx answers
// comes from either server, from the table, and with the counts and page numbers of both.
func TestCompose(t *testing.T) {
	root := provisiontest.Root(t)
	file := filepath.Join(root, "infra", "compose.yml")
	// No release tags its image as the latest one.
	compose := provisiontest.Fetched(t, "the check of compose.yml", "bin/compose")
	settings := []string{"TALKBACK_VERSION=1.0.0", "TALKBACK_MODERATOR_TOKEN=" + token}
	for i, says := range []string{"such as 1.0.0", "openssl rand -hex 32"} {
		if out, err := output(t, compose, []string{settings[1-i]}, file); err == nil || !strings.Contains(out, says) {
			t.Errorf("with %s alone: %v, %s", settings[1-i], err, out)
		}
	}
	out, err := output(t, compose, settings, file)
	if err != nil {
		t.Fatal(out)
	}
	var project struct{ Services map[string]service }
	must.Do(t, json.Unmarshal([]byte(out), &project))
	for name, s := range project.Services {
		for _, volume := range s.Volumes {
			if _, err := os.Stat(volume.Source); volume.Type == "bind" && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, port := range s.Ports {
			if port.Host != "127.0.0.1" {
				t.Errorf("%s can be reached from other machines", name)
			}
		}
	}
	redis := redistest.Start(t, project.Services["redis"].Command[1:]...)
	table, name := strings.TrimPrefix(dynamotest.DynamoDBLocal(t), "http://"), dynamotest.TableName(t)
	configuration := string(read(t, "nginx.conf"))
	var servers [2]*process
	for i := range servers {
		s := project.Services[fmt.Sprint("talkback-", i+1)]
		if !strings.Contains(configuration, "server "+s.Networks["default"].Address+s.Environment["TALKBACK_LISTEN"]+" ") {
			t.Errorf("nginx.conf has no server at %s%s", s.Networks["default"].Address, s.Environment["TALKBACK_LISTEN"])
		}
		for variable, value := range s.Environment {
			s.Environment[variable] = strings.NewReplacer("table:8000", table, "redis:6379", redis.Address()).Replace(value)
		}
		s.Environment["TALKBACK_TABLE"] = name // one engine serves all tests
		s.Environment["TALKBACK_TRUSTED_PROXY"] = "127.0.0.1"
		delete(s.Environment, "TALKBACK_SAMPLE_DATA")
		servers[i] = start(t, s.Command, s.Environment)
		until(t, "http://"+servers[i].api+"/readyz", "", func(string) bool { return true })
		if said, err := output(t, filepath.Join(root, "bin", "talkback"), []string{"TALKBACK_LISTEN=" + servers[i].api}, s.HealthCheck.Test[2:]...); err != nil {
			t.Errorf("health check: %s", said)
		}
		checkTargets(t, fmt.Sprint("talkback-", i+1), s.Environment["TALKBACK_ADMIN_LISTEN"])
	}
	address := nginxtest.Start(t, [2]string{servers[0].api, servers[1].api})
	const written = `{"query": "mutation {addComment(input: {productId: \"p\", rating: 5, language: \"en\", title: \"Good\", text: \"Very good\", author: {id: \"a\", name: \"A\"}}) {comment {id} userErrors {message}}}"}`
	until(t, address+"/graphql", written, func(answer string) bool { return strings.Contains(answer, `"userErrors":[]`) })
	const question = `{"query": "{product(id: \"p\") {stats {total} comments(first: 1, page: 1) {nodes {id}}}}"}`
	counted := func(answer string) bool {
		return strings.Contains(answer, `"total":1}`) && strings.Contains(answer, `"id":"`)
	}
	for _, s := range servers {
		until(t, "http://"+s.api+"/graphql", question, counted)
		until(t, "http://"+s.admin+"/metrics", "", func(answer string) bool { return strings.Contains(answer, "process_uptime_seconds ") })
	}
	servers[0].server.Stop(t)
	until(t, address+"/graphql", question, counted)
}

// TestKubernetes checks the resources, and starts a server and a counting process as they say;
// probes get the answers that they want.
func TestKubernetes(t *testing.T) {
	root := provisiontest.Root(t)
	files, err := filepath.Glob(filepath.Join(root, "infra", "kubernetes", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	t.Run("kinds", func(t *testing.T) {
		checker := provisiontest.Fetched(t, "the check of Kubernetes' resources", ".cache/kubernetes/bin/kubernetes-validate")
		if out, err := output(t, checker, nil, append([]string{"--strict", "--kubernetes-version", "1.33.0"}, files...)...); err != nil {
			t.Error(out)
		}
	})
	resources := map[string]resource{}
	for _, file := range files {
		decoder := yaml.NewDecoder(bytes.NewReader(read(t, "kubernetes/"+filepath.Base(file))))
		for {
			var r resource
			if err := decoder.Decode(&r); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(file, err)
			}
			resources[r.Kind+" "+r.Metadata.Name] = r
		}
	}
	table := dynamotest.TableName(t)
	made := start(t, []string{"serve", "--create-table", "--listen", ":8080"}, map[string]string{
		"TALKBACK_ENDPOINT": dynamotest.DynamoDBLocal(t), "TALKBACK_TABLE": table, "TALKBACK_ADMIN_LISTEN": ":9090", "TALKBACK_MODERATOR_TOKEN": token})
	until(t, "http://"+made.api+"/readyz", "", func(string) bool { return true })
	made.server.Stop(t)
	for _, name := range []string{"Deployment talkback", "Deployment talkback-stream"} {
		pod := resources[name].Spec.Template.Spec
		c := pod.Containers[0]
		environment := maps.Clone(resources["ConfigMap talkback"].Data)
		maps.Copy(environment, map[string]string{
			"TALKBACK_TABLE": table, "TALKBACK_MODERATOR_TOKEN": token,
			// The engine in place of AWS, to the SDK's own clients.
			"AWS_ENDPOINT_URL": dynamotest.DynamoDBLocal(t), "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
		})
		p := start(t, c.Args, environment)
		if c.ReadinessProbe == nil {
			t.Errorf("%s: a process that cannot start takes the place of one that works", name)
		}
		ports := map[string]string{}
		for _, port := range c.Ports {
			ports[port.Name] = map[int]string{8080: p.api, 9090: p.admin}[port.ContainerPort]
		}
		for _, probe := range []*probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
			if probe != nil {
				until(t, "http://"+ports[probe.HTTPGet.Port]+probe.HTTPGet.Path, "", func(string) bool { return true })
			}
		}
		for _, selecting := range []string{name, strings.Replace(name, "Deployment", "PodDisruptionBudget", 1)} {
			if selected, labels := resources[selecting].Spec.Selector.MatchLabels, resources[name].Spec.Template.Metadata.Labels; !maps.Equal(selected, labels) {
				t.Errorf("%s selects %v, the pods of %s are %v", selecting, selected, name, labels)
			}
		}
	}
	if metric := resources["HorizontalPodAutoscaler talkback"].Spec.Metrics[0].Pods.Metric.Name; !strings.Contains(string(read(t, "../docs/operate/metrics.md")), "`"+metric+"`") {
		t.Errorf("there is no metric %s", metric)
	}
}

// resource is what the tests need of one of Kubernetes.
type resource struct {
	Kind     string
	Metadata metadata
	Data     map[string]string
	Spec     struct {
		Selector struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		}
		Template struct {
			Metadata metadata
			Spec     struct{ Containers []container }
		}
		Metrics []struct {
			Pods struct{ Metric metadata }
		}
	}
}

type metadata struct {
	Name   string
	Labels map[string]string
}

type container struct {
	Args  []string
	Ports []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
	StartupProbe   *probe `yaml:"startupProbe"`
	ReadinessProbe *probe `yaml:"readinessProbe"`
	LivenessProbe  *probe `yaml:"livenessProbe"`
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

// checkTargets holds Prometheus' configuration to a server and its listener for operators.
func checkTargets(t *testing.T, server, listener string) {
	t.Helper()
	var configuration struct {
		RuleFiles     []string `yaml:"rule_files"`
		ScrapeConfigs []struct {
			Name   string                       `yaml:"job_name"`
			Static []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	must.Do(t, yaml.Unmarshal(read(t, "prometheus.yml"), &configuration))
	job := configuration.ScrapeConfigs[0]
	if !slices.Contains(job.Static[0].Targets, server+listener) || job.Name != "talkback" || !slices.Equal(configuration.RuleFiles, []string{"alerts.yml"}) {
		t.Errorf("Prometheus does not scrape %s%s as job talkback, or has not the rules of alerts.yml: %+v", server, listener, configuration)
	}
}

// process is a running program with its listeners for clients and operators, if it has them.
type process struct {
	server     *servertest.Server
	api, admin string
}

// start starts the program with what a file says, but for the addresses it listens on: ports 8080
// and 9090 are others of this machine.
func start(t *testing.T, args []string, environment map[string]string) *process {
	t.Helper()
	path := provisiontest.Fetched(t, "servers in containers", "bin/talkback")
	p := &process{}
	admin := servertest.FreePort(t)
	p.server = servertest.Start(t, "/usr/bin/env", func(port uint16) []string {
		p.api, p.admin = fmt.Sprint("127.0.0.1:", port), fmt.Sprint("127.0.0.1:", admin)
		moved := strings.NewReplacer(":8080", p.api, ":9090", p.admin)
		line := []string{"-i"}
		for name, value := range environment {
			if strings.HasSuffix(name, "_LISTEN") {
				value = moved.Replace(value)
			}
			line = append(line, name+"="+value)
		}
		line = append(line, path)
		for _, arg := range args {
			line = append(line, moved.Replace(arg))
		}
		return line
	}, func(string) bool { return answers("http://" + p.admin + "/healthz") })
	return p
}

func answers(url string) bool {
	response, err := http.Get(url)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// until asks until the answer is 200 and as wanted.
func until(t *testing.T, url, body string, wanted func(answer string) bool) {
	t.Helper()
	said := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		request := must.Get(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			said = err.Error()
			continue
		}
		answer, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if said = fmt.Sprint(response.Status, " ", string(answer), err); err == nil && response.StatusCode == http.StatusOK && wanted(string(answer)) {
			return
		}
	}
	t.Fatalf("%s: %s", url, said)
}

// output runs a program with more environment, and returns all that it printed.
func output(t *testing.T, path string, environment []string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, path, args...)
	command.Env = append([]string{"PATH=" + os.Getenv("PATH")}, environment...)
	out, err := command.CombinedOutput()
	return string(out), err
}

// read returns a file of infra.
func read(t *testing.T, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join(provisiontest.Root(t), "infra", name)))(t)
}
