CREATE TABLE "agents" (
	"id" text PRIMARY KEY NOT NULL,
	"handle" text NOT NULL,
	"shape" text NOT NULL,
	"about" text,
	"owner" text,
	"claim_hash" text,
	"claim_expires" bigint,
	"made_from" text NOT NULL,
	"kept" bigint DEFAULT 0 NOT NULL,
	"created" bigint NOT NULL,
	"closed" bigint,
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
	"version" bigint NOT NULL,
	"store" boolean NOT NULL,
	"listed" text NOT NULL,
	"remix" text NOT NULL,
	"price_remix" bigint,
	"remix_of" text,
	"remixes" bigint DEFAULT 0 NOT NULL,
	"opens" bigint DEFAULT 0 NOT NULL,
	"stars" bigint DEFAULT 0 NOT NULL,
	"reviews" bigint DEFAULT 0 NOT NULL,
	"bytes" bigint NOT NULL,
	"taken_down" bigint,
	"taken_down_for" text,
	"closed" bigint,
	"created" bigint NOT NULL,
	"updated" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bad_pages" (
	"sha256" text PRIMARY KEY NOT NULL,
	"reason" text NOT NULL,
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
	"asks" text NOT NULL,
	"via" text NOT NULL,
	"note" text NOT NULL,
	"created" bigint NOT NULL,
	CONSTRAINT "versions_app_version_pk" PRIMARY KEY("app","version")
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
CREATE TABLE "keys" (
	"prefix" text PRIMARY KEY NOT NULL,
	"hash" text NOT NULL,
	"kind" text NOT NULL,
	"owner" text NOT NULL,
	"name" text,
	"daily_cap" bigint,
	"created" bigint NOT NULL,
	"revoked" bigint,
	CONSTRAINT "keys_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
CREATE INDEX "agents_created" ON "agents" USING btree ("created");--> statement-breakpoint
CREATE INDEX "agents_made_from" ON "agents" USING btree ("made_from","created");--> statement-breakpoint
CREATE INDEX "apps_maker" ON "apps" USING btree ("maker","created","id");--> statement-breakpoint
CREATE INDEX "apps_closed" ON "apps" USING btree ("closed");--> statement-breakpoint
CREATE INDEX "versions_maker" ON "versions" USING btree ("maker","created");--> statement-breakpoint
CREATE INDEX "versions_pack" ON "versions" USING btree ("pack");--> statement-breakpoint
CREATE INDEX "keys_owner" ON "keys" USING btree ("owner","created");