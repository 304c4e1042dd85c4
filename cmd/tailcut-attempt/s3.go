package main

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// s3 is a store that speaks the protocol of S3: as much of it as one conditional write needs, since the SDK would make
// the program ten times as large, and it goes into every image.
type s3 struct {
	endpoint           string // scheme and host, "" for AWS
	region             string
	key, secret, token string
	now                func() time.Time
}

// s3Of reads the settings that other programs for S3 read, and asks for credentials where a pod has a role.
func s3Of(env func(string) string) (*s3, error) {
	s := &s3{
		endpoint: strings.TrimSuffix(cmp.Or(env("AWS_ENDPOINT_URL_S3"), env("AWS_ENDPOINT_URL")), "/"),
		region:   cmp.Or(env("AWS_REGION"), env("AWS_DEFAULT_REGION"), "us-east-1"),
		key:      env("AWS_ACCESS_KEY_ID"), secret: env("AWS_SECRET_ACCESS_KEY"), token: env("AWS_SESSION_TOKEN"),
		now: time.Now,
	}
	if s.key != "" && s.secret != "" {
		return s, nil
	}
	role, file := env("AWS_ROLE_ARN"), env("AWS_WEB_IDENTITY_TOKEN_FILE")
	if role == "" || file == "" {
		return nil, errors.New("no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the service account a role")
	}
	sts := cmp.Or(env("AWS_ENDPOINT_URL_STS"), "https://sts."+s.region+".amazonaws.com")
	return s, s.assume(sts, role, file)
}

// assume exchanges the token of the pod's service account for credentials.
func (s *s3) assume(sts, role, file string) error {
	token, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	answer, err := client.PostForm(sts, url.Values{
		"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "RoleSessionName": {"tailcut-attempt"},
		"RoleArn": {role}, "WebIdentityToken": {strings.TrimSpace(string(token))},
	})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var said struct {
		Credentials struct{ AccessKeyId, SecretAccessKey, SessionToken string } `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("role %s: %s", role, complaint(answer))
	}
	if err := xml.NewDecoder(answer.Body).Decode(&said); err != nil {
		return fmt.Errorf("role %s: %w", role, err)
	}
	s.key, s.secret, s.token = said.Credentials.AccessKeyId, said.Credentials.SecretAccessKey, said.Credentials.SessionToken
	return nil
}

var client = &http.Client{}

// tries bounds how often a write is repeated that the store could not decide.
const tries = 5

// putFirst writes an object, unless there is one.
func (s *s3) putFirst(file, bucket, key string) (first bool, err error) {
	for try := range tries {
		time.Sleep(time.Duration(try*try) * 200 * time.Millisecond)
		status, again := 0, false
		if status, err = s.put(file, bucket, key); err == nil {
			return status != http.StatusPreconditionFailed, nil
		}
		if again = status == http.StatusConflict || status == http.StatusTooManyRequests || status >= 500; !again {
			break
		}
	}
	return false, err
}

func (s *s3) put(file, bucket, key string) (status int, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return 0, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	where, path := s.endpoint, "/"+bucket+"/"+key
	if where == "" {
		where, path = "https://"+bucket+".s3."+s.region+".amazonaws.com", "/"+key
	}
	request, err := http.NewRequest(http.MethodPut, where+escaped(path), io.NopCloser(f))
	if err != nil {
		return 0, err
	}
	request.ContentLength = size
	if size == 0 {
		request.Body = http.NoBody
	}
	request.Header.Set("If-None-Match", "*")
	s.sign(request, hex.EncodeToString(sum.Sum(nil)))
	answer, err := client.Do(request)
	if err != nil {
		return http.StatusServiceUnavailable, err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK || answer.StatusCode == http.StatusPreconditionFailed {
		return answer.StatusCode, nil
	}
	return answer.StatusCode, errors.New(complaint(answer))
}

// sign adds the headers of AWS Signature Version 4.
func (s *s3) sign(r *http.Request, payload string) {
	now := s.now().UTC()
	r.Header.Set("X-Amz-Date", now.Format("20060102T150405Z"))
	r.Header.Set("X-Amz-Content-Sha256", payload)
	names, headers := "host", "host:"+r.URL.Host+"\n"
	for _, name := range []string{"if-none-match", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"} {
		if name == "x-amz-security-token" {
			if s.token == "" {
				break
			}
			r.Header.Set(name, s.token)
		}
		if value := r.Header.Get(name); value != "" {
			names, headers = names+";"+name, headers+name+":"+value+"\n"
		}
	}
	canonical := strings.Join([]string{r.Method, r.URL.EscapedPath(), "", headers, names, payload}, "\n")
	hash := sha256.Sum256([]byte(canonical))
	scope := now.Format("20060102") + "/" + s.region + "/s3/aws4_request"
	text := "AWS4-HMAC-SHA256\n" + now.Format("20060102T150405Z") + "\n" + scope + "\n" + hex.EncodeToString(hash[:])
	key := []byte("AWS4" + s.secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+s.key+"/"+scope+", SignedHeaders="+names+", Signature="+hex.EncodeToString(mac(key, text)))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// escaped writes a path as signatures want it: all but the characters that never mean anything.
func escaped(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// complaint is what a store says about a request that it refuses, in short.
func complaint(answer *http.Response) string {
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 4096)) // what can be had of it
	var said struct{ Code, Message string }
	if xml.Unmarshal(body, &said) == nil && said.Code != "" {
		return fmt.Sprintf("%s: %s: %s", answer.Status, said.Code, said.Message)
	}
	return answer.Status
}
