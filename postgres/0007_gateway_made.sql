CREATE TABLE "gateway_made" (
	"id" text PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"sha256" text NOT NULL,
	"expires" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "gateway_made_sha256" ON "gateway_made" USING btree ("sha256");--> statement-breakpoint
CREATE INDEX "gateway_made_expires" ON "gateway_made" USING btree ("expires","id");