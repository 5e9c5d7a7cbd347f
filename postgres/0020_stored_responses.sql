CREATE TABLE "gateway_responses" (
	"account" text NOT NULL,
	"id" text NOT NULL,
	"created" bigint NOT NULL,
	"used" bigint NOT NULL,
	"bytes" bigint NOT NULL,
	"previous" text,
	"input" text NOT NULL,
	"response" text NOT NULL,
	CONSTRAINT "gateway_responses_account_id_pk" PRIMARY KEY("account","id")
);
--> statement-breakpoint
CREATE INDEX "gateway_responses_account" ON "gateway_responses" USING btree ("account","used","id","bytes");--> statement-breakpoint
CREATE INDEX "gateway_responses_used" ON "gateway_responses" USING btree ("used");