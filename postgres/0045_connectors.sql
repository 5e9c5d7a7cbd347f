CREATE TABLE "authorization_codes" (
	"hash" text PRIMARY KEY NOT NULL,
	"client" text NOT NULL,
	"client_name" text NOT NULL,
	"redirect_uri" text NOT NULL,
	"challenge" text NOT NULL,
	"person" text NOT NULL,
	"agent" text NOT NULL,
	"scopes" text NOT NULL,
	"expires" bigint NOT NULL,
	"connector" text
);
--> statement-breakpoint
CREATE TABLE "connectors" (
	"id" text PRIMARY KEY NOT NULL,
	"person" text NOT NULL,
	"agent" text NOT NULL,
	"client" text NOT NULL,
	"client_name" text NOT NULL,
	"scopes" text NOT NULL,
	"token" text NOT NULL,
	"family_hash" text NOT NULL,
	"refresh_hash" text NOT NULL,
	"previous_hash" text,
	"created" bigint NOT NULL,
	"used" bigint NOT NULL,
	"expires" bigint NOT NULL,
	CONSTRAINT "connectors_token_unique" UNIQUE("token"),
	CONSTRAINT "connectors_family_hash_unique" UNIQUE("family_hash")
);
--> statement-breakpoint
CREATE TABLE "oauth_clients" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"redirect_uris" text NOT NULL,
	"created" bigint NOT NULL,
	"used" bigint
);
--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "scopes" text;--> statement-breakpoint
CREATE INDEX "authorization_codes_person" ON "authorization_codes" USING btree ("person");--> statement-breakpoint
CREATE INDEX "authorization_codes_expires" ON "authorization_codes" USING btree ("expires");--> statement-breakpoint
CREATE INDEX "connectors_person" ON "connectors" USING btree ("person","created");--> statement-breakpoint
CREATE INDEX "connectors_agent" ON "connectors" USING btree ("agent");--> statement-breakpoint
CREATE INDEX "connectors_expires" ON "connectors" USING btree ("expires");--> statement-breakpoint
CREATE INDEX "oauth_clients_used" ON "oauth_clients" USING btree ("used","created");