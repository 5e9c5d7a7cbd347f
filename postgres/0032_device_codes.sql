CREATE TABLE "device_codes" (
	"hash" text PRIMARY KEY NOT NULL,
	"user_hash" text NOT NULL,
	"client" text NOT NULL,
	"expires" bigint NOT NULL,
	"agent" text,
	"person" text,
	"denied" boolean DEFAULT false NOT NULL,
	CONSTRAINT "device_codes_user_hash_unique" UNIQUE("user_hash")
);
--> statement-breakpoint
CREATE INDEX "device_codes_expires" ON "device_codes" USING btree ("expires");