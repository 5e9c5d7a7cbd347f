CREATE TABLE "gateway_accounts" (
	"id" text PRIMARY KEY NOT NULL,
	"made_from" text NOT NULL,
	"created" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "gateway_files" (
	"id" text PRIMARY KEY NOT NULL,
	"account" text NOT NULL,
	"filename" text NOT NULL,
	"purpose" text NOT NULL,
	"kind" text NOT NULL,
	"type" text NOT NULL,
	"bytes" bigint NOT NULL,
	"sha256" text NOT NULL,
	"words_sha256" text,
	"words" bigint,
	"pages" bigint,
	"lasts_ms" bigint,
	"created" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "gateway_made" (
	"id" text PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"sha256" text NOT NULL,
	"expires" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agents" (
	"id" text PRIMARY KEY NOT NULL,
	"handle" text NOT NULL,
	"shape" text NOT NULL,
	"about" text,
	"owner" text,
	"paused_by" text,
	"daily_cap" bigint,
	"claim_hash" text,
	"claim_expires" bigint,
	"claim_used" bigint,
	"made_from" text NOT NULL,
	"kept" bigint DEFAULT 0 NOT NULL,
	"created" bigint NOT NULL,
	"closed" bigint,
	"suspended" bigint,
	"suspended_for" text,
	CONSTRAINT "agents_handle_unique" UNIQUE("handle"),
	CONSTRAINT "agents_shape_unique" UNIQUE("shape"),
	CONSTRAINT "agents_claim_hash_unique" UNIQUE("claim_hash")
);
--> statement-breakpoint
CREATE TABLE "apps" (
	"id" text PRIMARY KEY NOT NULL,
	"maker" text NOT NULL,
	"kind" text NOT NULL,
	"title" text NOT NULL,
	"description" text NOT NULL,
	"shelf" text NOT NULL,
	"icon" text,
	"icon_given" boolean DEFAULT false NOT NULL,
	"version" bigint NOT NULL,
	"words" text NOT NULL,
	"listed" text NOT NULL,
	"listed_version" bigint,
	"listed_at" bigint,
	"remix" text NOT NULL,
	"price_remix" bigint,
	"comments" boolean DEFAULT true NOT NULL,
	"remix_of" text,
	"remix_of_title" text,
	"remix_of_maker" text,
	"remixes" bigint DEFAULT 0 NOT NULL,
	"remixers" bigint DEFAULT 0 NOT NULL,
	"opens" bigint DEFAULT 0 NOT NULL,
	"heat" bigint DEFAULT 0 NOT NULL,
	"stars" bigint DEFAULT 0 NOT NULL,
	"reviews" bigint DEFAULT 0 NOT NULL,
	"good" bigint DEFAULT 0 NOT NULL,
	"low" bigint GENERATED ALWAYS AS (case when reviews = 0 then 0 else cast(1000000 * (good + 1.9208 -
    1.96 * sqrt(1.0 * good * (reviews - good) / reviews + 0.9604)) / (reviews + 3.8416)
    as bigint) end) STORED,
	"bytes" bigint NOT NULL,
	"taken_down" bigint,
	"taken_down_for" text,
	"held_at" bigint,
	"held_for" text,
	"held_by" text,
	"rules" bigint DEFAULT 0 NOT NULL,
	"closed" bigint,
	"created" bigint NOT NULL,
	"updated" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bad_pages" (
	"sha256" text NOT NULL,
	"app" text NOT NULL,
	"reason" text NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "bad_pages_sha256_app_pk" PRIMARY KEY("sha256","app")
);
--> statement-breakpoint
CREATE TABLE "opens" (
	"app" text NOT NULL,
	"day" text NOT NULL,
	"visitor" text NOT NULL,
	CONSTRAINT "opens_app_day_visitor_pk" PRIMARY KEY("app","day","visitor")
);
--> statement-breakpoint
CREATE TABLE "remixes" (
	"app" text PRIMARY KEY NOT NULL,
	"of" text NOT NULL,
	"version" bigint NOT NULL,
	"title" text NOT NULL,
	"maker" text NOT NULL,
	"buyer" text NOT NULL,
	"price" bigint NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "versions" (
	"app" text NOT NULL,
	"version" bigint NOT NULL,
	"maker" text NOT NULL,
	"sha256" text NOT NULL,
	"pack" text NOT NULL,
	"html_bytes" bigint NOT NULL,
	"gzip_bytes" bigint NOT NULL,
	"br_bytes" bigint NOT NULL,
	"br_level" bigint DEFAULT 5 NOT NULL,
	"asks" text NOT NULL,
	"verdict" text DEFAULT 'clean' NOT NULL,
	"findings" text DEFAULT '[]' NOT NULL,
	"scanned" bigint DEFAULT 0 NOT NULL,
	"via" text NOT NULL,
	"note" text NOT NULL,
	"created" bigint NOT NULL,
	CONSTRAINT "versions_app_version_pk" PRIMARY KEY("app","version")
);
--> statement-breakpoint
CREATE TABLE "assets" (
	"app" text NOT NULL,
	"version" bigint NOT NULL,
	"name" text NOT NULL,
	"sha256" text NOT NULL,
	"type" text NOT NULL,
	"kind" text NOT NULL,
	"bytes" bigint NOT NULL,
	"width" bigint,
	"height" bigint,
	"lasts_ms" bigint,
	"what" text,
	"seed" bigint,
	"maker" text NOT NULL,
	"created" bigint NOT NULL,
	CONSTRAINT "assets_app_version_name_pk" PRIMARY KEY("app","version","name")
);
--> statement-breakpoint
CREATE TABLE "item_uses" (
	"agent" text NOT NULL,
	"item" text NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "item_uses_agent_item_pk" PRIMARY KEY("agent","item")
);
--> statement-breakpoint
CREATE TABLE "appeals" (
	"id" text PRIMARY KEY NOT NULL,
	"app" text NOT NULL,
	"maker" text NOT NULL,
	"against" bigint NOT NULL,
	"text" text NOT NULL,
	"at" bigint NOT NULL,
	"state" text NOT NULL,
	"answer" text,
	"decided" bigint
);
--> statement-breakpoint
CREATE TABLE "audit" (
	"id" text PRIMARY KEY NOT NULL,
	"at" bigint NOT NULL,
	"by" text NOT NULL,
	"did" text NOT NULL,
	"item" text NOT NULL,
	"why" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "reports" (
	"id" text PRIMARY KEY NOT NULL,
	"app" text NOT NULL,
	"reason" text NOT NULL,
	"text" text NOT NULL,
	"contact" text,
	"sender" text NOT NULL,
	"at" bigint NOT NULL,
	"handled" bigint
);
--> statement-breakpoint
CREATE TABLE "deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"hook" text NOT NULL,
	"note" text NOT NULL,
	"kind" text NOT NULL,
	"body" text NOT NULL,
	"state" text NOT NULL,
	"tries" bigint DEFAULT 0 NOT NULL,
	"status" bigint,
	"problem" text,
	"created" bigint NOT NULL,
	"next" bigint,
	"ended" bigint
);
--> statement-breakpoint
CREATE TABLE "hooks" (
	"id" text PRIMARY KEY NOT NULL,
	"agent" text NOT NULL,
	"url" text NOT NULL,
	"kinds" text,
	"seen" bigint NOT NULL,
	"created" bigint NOT NULL,
	"gone" bigint
);
--> statement-breakpoint
CREATE TABLE "note_counts" (
	"agent" text PRIMARY KEY NOT NULL,
	"last" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "notes" (
	"agent" text NOT NULL,
	"number" bigint NOT NULL,
	"id" text NOT NULL,
	"kind" text NOT NULL,
	"item" text,
	"actor" text,
	"text" text NOT NULL,
	"data" text NOT NULL,
	"at" bigint NOT NULL,
	"read" bigint,
	CONSTRAINT "notes_agent_number_pk" PRIMARY KEY("agent","number"),
	CONSTRAINT "notes_id_unique" UNIQUE("id")
);
--> statement-breakpoint
CREATE TABLE "identities" (
	"id" text PRIMARY KEY NOT NULL,
	"issuer" text NOT NULL,
	"subject" text NOT NULL,
	"person" text NOT NULL,
	"name" text NOT NULL,
	"created" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "passkeys" (
	"id" text PRIMARY KEY NOT NULL,
	"credential" text NOT NULL,
	"person" text NOT NULL,
	"name" text NOT NULL,
	"public_key" text NOT NULL,
	"counter" bigint NOT NULL,
	"created" bigint NOT NULL,
	"seen" bigint,
	CONSTRAINT "passkeys_credential_unique" UNIQUE("credential")
);
--> statement-breakpoint
CREATE TABLE "people" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"password" text,
	"operator" boolean DEFAULT false NOT NULL,
	"wallet" text NOT NULL,
	"created" bigint NOT NULL,
	"suspended" bigint,
	"suspended_for" text,
	CONSTRAINT "people_name_unique" UNIQUE("name"),
	CONSTRAINT "people_wallet_unique" UNIQUE("wallet")
);
--> statement-breakpoint
CREATE TABLE "recovery_codes" (
	"hash" text PRIMARY KEY NOT NULL,
	"person" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"hash" text NOT NULL,
	"person" text NOT NULL,
	"browser" text NOT NULL,
	"created" bigint NOT NULL,
	"seen" bigint NOT NULL,
	"expires" bigint NOT NULL,
	CONSTRAINT "sessions_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
CREATE TABLE "used_tickets" (
	"hash" text PRIMARY KEY NOT NULL,
	"expires" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "comments" (
	"id" text PRIMARY KEY NOT NULL,
	"item" text NOT NULL,
	"agent" text NOT NULL,
	"text" text NOT NULL,
	"reply_to" text,
	"hidden" bigint,
	"created" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "reviews" (
	"id" text PRIMARY KEY NOT NULL,
	"item" text NOT NULL,
	"agent" text NOT NULL,
	"made_from" text NOT NULL,
	"stars" bigint NOT NULL,
	"text" text NOT NULL,
	"version" bigint NOT NULL,
	"counts" boolean NOT NULL,
	"hidden" bigint,
	"answer" text,
	"answered" bigint,
	"created" bigint NOT NULL,
	"updated" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "answers" (
	"owner" text NOT NULL,
	"ref" text NOT NULL,
	"request" text NOT NULL,
	"status" bigint NOT NULL,
	"body" text NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "answers_owner_ref_pk" PRIMARY KEY("owner","ref")
);
--> statement-breakpoint
CREATE TABLE "jobs_events" (
	"job" text NOT NULL,
	"number" bigint NOT NULL,
	"at" bigint NOT NULL,
	"state" text NOT NULL,
	"step" text,
	"progress" bigint NOT NULL,
	CONSTRAINT "jobs_events_job_number_pk" PRIMARY KEY("job","number")
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"lane" text NOT NULL,
	"owner" text NOT NULL,
	"item" text,
	"slot" text,
	"state" text NOT NULL,
	"step" text,
	"progress" bigint DEFAULT 0 NOT NULL,
	"input" text NOT NULL,
	"data" text,
	"price" bigint NOT NULL,
	"charged" bigint DEFAULT 0 NOT NULL,
	"result" text,
	"error" text,
	"lease" text,
	"lease_until" bigint,
	"due" bigint NOT NULL,
	"deadline" bigint NOT NULL,
	"interruptions" bigint DEFAULT 0 NOT NULL,
	"events" bigint DEFAULT 1 NOT NULL,
	"created" bigint NOT NULL,
	"started" bigint,
	"ended" bigint
);
--> statement-breakpoint
CREATE TABLE "keys" (
	"prefix" text PRIMARY KEY NOT NULL,
	"hash" text NOT NULL,
	"kind" text NOT NULL,
	"owner" text NOT NULL,
	"name" text,
	"daily_cap" bigint,
	"created" bigint NOT NULL,
	"revoked" bigint,
	"suspended" bigint,
	CONSTRAINT "keys_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
CREATE TABLE "accounts" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"balance" bigint DEFAULT 0 NOT NULL,
	"free" bigint DEFAULT 0 NOT NULL,
	"earned" bigint DEFAULT 0 NOT NULL,
	"held" bigint DEFAULT 0 NOT NULL,
	"paid_held" bigint DEFAULT 0 NOT NULL,
	"last_free" bigint DEFAULT 0 NOT NULL,
	"entries" bigint DEFAULT 0 NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "accounts_covered" CHECK ("accounts"."kind" = 'house' or "accounts"."held" <= "accounts"."balance"),
	CONSTRAINT "accounts_free" CHECK ("accounts"."kind" = 'house' or "accounts"."free" >= 0),
	CONSTRAINT "accounts_earned" CHECK ("accounts"."earned" >= 0),
	CONSTRAINT "accounts_colours" CHECK ("accounts"."kind" = 'house' or "accounts"."free" + "accounts"."earned" <= "accounts"."balance"),
	CONSTRAINT "accounts_held" CHECK ("accounts"."paid_held" >= 0 and "accounts"."paid_held" <= "accounts"."held"),
	CONSTRAINT "accounts_paid" CHECK ("accounts"."kind" = 'house' or "accounts"."paid_held" <= "accounts"."balance" - "accounts"."free")
);
--> statement-breakpoint
CREATE TABLE "caps" (
	"key" text NOT NULL,
	"day" text NOT NULL,
	"used" bigint NOT NULL,
	CONSTRAINT "caps_key_day_pk" PRIMARY KEY("key","day"),
	CONSTRAINT "caps_used" CHECK ("caps"."used" >= 0)
);
--> statement-breakpoint
CREATE TABLE "entries" (
	"account" text NOT NULL,
	"number" bigint NOT NULL,
	"ref" text NOT NULL,
	"line" bigint NOT NULL,
	"kind" text NOT NULL,
	"item" text,
	"amount" bigint NOT NULL,
	"balance" bigint NOT NULL,
	"free" bigint NOT NULL,
	"earned" bigint NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "entries_account_number_pk" PRIMARY KEY("account","number")
);
--> statement-breakpoint
CREATE TABLE "free_days" (
	"day" text PRIMARY KEY NOT NULL,
	"used" bigint NOT NULL,
	CONSTRAINT "free_days_used" CHECK ("free_days"."used" >= 0)
);
--> statement-breakpoint
CREATE TABLE "holds" (
	"ref" text PRIMARY KEY NOT NULL,
	"id" text NOT NULL,
	"account" text NOT NULL,
	"kind" text NOT NULL,
	"item" text,
	"amount" bigint NOT NULL,
	"charged" bigint DEFAULT 0 NOT NULL,
	"state" text NOT NULL,
	"funds" text NOT NULL,
	"parts" text NOT NULL,
	"price" text,
	"cap_key" text,
	"cap_day" text,
	"on_expiry" text NOT NULL,
	"deadline" bigint NOT NULL,
	"process" text NOT NULL,
	"job" text,
	"at" bigint NOT NULL,
	CONSTRAINT "holds_charge" CHECK ("holds"."charged" >= 0 and "holds"."charged" <= "holds"."amount"),
	CONSTRAINT "holds_ended" CHECK ("holds"."state" = 'settled' or "holds"."charged" = 0)
);
--> statement-breakpoint
CREATE TABLE "use_counts" (
	"account" text NOT NULL,
	"day" text DEFAULT '' NOT NULL,
	"model" text NOT NULL,
	"count" bigint NOT NULL,
	"charged" bigint DEFAULT 0 NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "use_counts_account_day_model_pk" PRIMARY KEY("account","day","model")
);
--> statement-breakpoint
CREATE TABLE "uses" (
	"account" text NOT NULL,
	"number" bigint NOT NULL,
	"model" text NOT NULL,
	"model_number" bigint NOT NULL,
	"id" text NOT NULL,
	"request_id" text NOT NULL,
	"at" bigint NOT NULL,
	"type" text NOT NULL,
	"source" text NOT NULL,
	"status" text NOT NULL,
	"upstream" text,
	"price" text,
	"input" bigint NOT NULL,
	"cached" bigint NOT NULL,
	"output" bigint NOT NULL,
	"reasoning" bigint NOT NULL,
	"searches" bigint NOT NULL,
	"estimated" boolean NOT NULL,
	"charged" bigint NOT NULL,
	"held" bigint NOT NULL,
	"ms" bigint NOT NULL,
	"first_byte_ms" bigint,
	CONSTRAINT "uses_account_number_pk" PRIMARY KEY("account","number")
);
--> statement-breakpoint
CREATE INDEX "gateway_accounts_made_from" ON "gateway_accounts" USING btree ("made_from","created");--> statement-breakpoint
CREATE INDEX "gateway_files_account" ON "gateway_files" USING btree ("account","created","id");--> statement-breakpoint
CREATE INDEX "gateway_files_sha256" ON "gateway_files" USING btree ("sha256");--> statement-breakpoint
CREATE INDEX "gateway_files_words_sha256" ON "gateway_files" USING btree ("words_sha256");--> statement-breakpoint
CREATE INDEX "gateway_made_sha256" ON "gateway_made" USING btree ("sha256");--> statement-breakpoint
CREATE INDEX "gateway_made_expires" ON "gateway_made" USING btree ("expires","id");--> statement-breakpoint
CREATE INDEX "agents_created" ON "agents" USING btree ("created");--> statement-breakpoint
CREATE INDEX "agents_owner" ON "agents" USING btree ("owner","created");--> statement-breakpoint
CREATE INDEX "agents_made_from" ON "agents" USING btree ("made_from","created");--> statement-breakpoint
CREATE INDEX "apps_maker" ON "apps" USING btree ("maker","created","id");--> statement-breakpoint
CREATE INDEX "apps_closed" ON "apps" USING btree ("closed");--> statement-breakpoint
CREATE INDEX "apps_held" ON "apps" USING btree ("held_at","id") WHERE "apps"."held_at" is not null;--> statement-breakpoint
CREATE INDEX "apps_rules" ON "apps" USING btree ("rules","id") WHERE "apps"."closed" is null and "apps"."taken_down" is null;--> statement-breakpoint
CREATE INDEX "apps_icon" ON "apps" USING btree ("icon");--> statement-breakpoint
CREATE INDEX "apps_listed_of" ON "apps" USING btree ("maker","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_listed_remixes" ON "apps" USING btree ("remix_of","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_new" ON "apps" USING btree ("listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_new_kind" ON "apps" USING btree ("kind","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_new_shelf" ON "apps" USING btree ("shelf","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_new_remix" ON "apps" USING btree ("remix","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_top" ON "apps" USING btree ("low","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_top_kind" ON "apps" USING btree ("kind","low","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_top_shelf" ON "apps" USING btree ("shelf","low","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_top_remix" ON "apps" USING btree ("remix","low","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_trending" ON "apps" USING btree ("heat","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_trending_kind" ON "apps" USING btree ("kind","heat","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_trending_shelf" ON "apps" USING btree ("shelf","heat","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_trending_remix" ON "apps" USING btree ("remix","heat","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_remixed" ON "apps" USING btree ("remixers","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_remixed_kind" ON "apps" USING btree ("kind","remixers","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_remixed_shelf" ON "apps" USING btree ("shelf","remixers","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_remixed_remix" ON "apps" USING btree ("remix","remixers","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "bad_pages_app" ON "bad_pages" USING btree ("app");--> statement-breakpoint
CREATE INDEX "opens_day" ON "opens" USING btree ("day");--> statement-breakpoint
CREATE INDEX "remixes_buyer" ON "remixes" USING btree ("buyer","of");--> statement-breakpoint
CREATE INDEX "versions_maker" ON "versions" USING btree ("maker","created");--> statement-breakpoint
CREATE INDEX "versions_pack" ON "versions" USING btree ("pack");--> statement-breakpoint
CREATE INDEX "versions_sha256" ON "versions" USING btree ("sha256");--> statement-breakpoint
CREATE INDEX "versions_unpolished" ON "versions" USING btree ("created") WHERE "versions"."br_level" = 5;--> statement-breakpoint
CREATE INDEX "assets_sha256" ON "assets" USING btree ("sha256","app");--> statement-breakpoint
CREATE INDEX "item_uses_item" ON "item_uses" USING btree ("item");--> statement-breakpoint
CREATE UNIQUE INDEX "appeals_once" ON "appeals" USING btree ("app","against");--> statement-breakpoint
CREATE INDEX "appeals_open" ON "appeals" USING btree ("at") WHERE "appeals"."state" = 'open';--> statement-breakpoint
CREATE INDEX "audit_at" ON "audit" USING btree ("at","id");--> statement-breakpoint
CREATE INDEX "audit_item" ON "audit" USING btree ("item","at");--> statement-breakpoint
CREATE INDEX "reports_sender" ON "reports" USING btree ("sender","at");--> statement-breakpoint
CREATE INDEX "reports_at" ON "reports" USING btree ("at");--> statement-breakpoint
CREATE INDEX "reports_waiting" ON "reports" USING btree ("at","id") WHERE "reports"."handled" is null;--> statement-breakpoint
CREATE INDEX "reports_open" ON "reports" USING btree ("app","at") WHERE "reports"."handled" is null;--> statement-breakpoint
CREATE INDEX "deliveries_hook" ON "deliveries" USING btree ("hook","created","id");--> statement-breakpoint
CREATE INDEX "deliveries_waiting" ON "deliveries" USING btree ("hook") WHERE "deliveries"."state" = 'waiting';--> statement-breakpoint
CREATE INDEX "deliveries_ended" ON "deliveries" USING btree ("ended");--> statement-breakpoint
CREATE INDEX "hooks_agent" ON "hooks" USING btree ("agent","created");--> statement-breakpoint
CREATE INDEX "notes_unread" ON "notes" USING btree ("agent","number") WHERE "notes"."read" is null;--> statement-breakpoint
CREATE INDEX "notes_at" ON "notes" USING btree ("at");--> statement-breakpoint
CREATE UNIQUE INDEX "identities_subject" ON "identities" USING btree ("issuer","subject");--> statement-breakpoint
CREATE INDEX "identities_person" ON "identities" USING btree ("person");--> statement-breakpoint
CREATE INDEX "passkeys_person" ON "passkeys" USING btree ("person","created");--> statement-breakpoint
CREATE INDEX "recovery_codes_person" ON "recovery_codes" USING btree ("person");--> statement-breakpoint
CREATE INDEX "sessions_person" ON "sessions" USING btree ("person","created");--> statement-breakpoint
CREATE INDEX "sessions_expires" ON "sessions" USING btree ("expires");--> statement-breakpoint
CREATE INDEX "used_tickets_expires" ON "used_tickets" USING btree ("expires");--> statement-breakpoint
CREATE INDEX "comments_agent" ON "comments" USING btree ("agent","created");--> statement-breakpoint
CREATE INDEX "comments_item" ON "comments" USING btree ("item");--> statement-breakpoint
CREATE INDEX "comments_shown" ON "comments" USING btree ("item","created","id") WHERE "comments"."hidden" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "reviews_agent" ON "reviews" USING btree ("agent","item");--> statement-breakpoint
CREATE INDEX "reviews_from" ON "reviews" USING btree ("item","made_from");--> statement-breakpoint
CREATE INDEX "reviews_shown" ON "reviews" USING btree ("item","created","id") WHERE "reviews"."hidden" is null;--> statement-breakpoint
CREATE INDEX "jobs_due" ON "jobs" USING btree ("lane","due") WHERE "jobs"."ended" is null and "jobs"."lease" is null;--> statement-breakpoint
CREATE INDEX "jobs_leased" ON "jobs" USING btree ("lease_until") WHERE "jobs"."lease" is not null;--> statement-breakpoint
CREATE INDEX "jobs_waiting" ON "jobs" USING btree ("deadline") WHERE "jobs"."ended" is null and "jobs"."lease" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_slot" ON "jobs" USING btree ("slot") WHERE "jobs"."ended" is null;--> statement-breakpoint
CREATE INDEX "jobs_open" ON "jobs" USING btree ("owner") WHERE "jobs"."ended" is null;--> statement-breakpoint
CREATE INDEX "jobs_owner" ON "jobs" USING btree ("owner","created","id");--> statement-breakpoint
CREATE INDEX "jobs_ended" ON "jobs" USING btree ("ended");--> statement-breakpoint
CREATE INDEX "keys_owner" ON "keys" USING btree ("owner","created");--> statement-breakpoint
CREATE UNIQUE INDEX "entries_ref" ON "entries" USING btree ("ref","line");--> statement-breakpoint
CREATE INDEX "entries_earned" ON "entries" USING btree ("account","at") WHERE "entries"."kind" = 'remix' and "entries"."amount" > 0;--> statement-breakpoint
CREATE INDEX "holds_open" ON "holds" USING btree ("deadline") WHERE "holds"."state" = 'held';--> statement-breakpoint
CREATE INDEX "holds_spending" ON "holds" USING btree ("account","kind","charged") WHERE ("holds"."kind" = 'build' or "holds"."kind" = 'icon' or "holds"."kind" = 'assets' or "holds"."kind" = 'remix');--> statement-breakpoint
CREATE INDEX "holds_job" ON "holds" USING btree ("job") WHERE "holds"."job" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "uses_model" ON "uses" USING btree ("account","model","model_number");
--> statement-breakpoint
-- What drizzle-kit cannot say: the full-text index over listed apps. Their words are tokens already.
CREATE INDEX "apps_search" ON "apps" USING gin (array_to_tsvector(string_to_array("words", ' ')))
  WHERE "listed" = 'on';
