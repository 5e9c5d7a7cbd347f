CREATE TABLE "use_counts" (
	"account" text NOT NULL,
	"model" text NOT NULL,
	"count" bigint NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "use_counts_account_model_pk" PRIMARY KEY("account","model")
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
	"estimated" boolean NOT NULL,
	"charged" bigint NOT NULL,
	"held" bigint NOT NULL,
	"ms" bigint NOT NULL,
	"first_byte_ms" bigint,
	CONSTRAINT "uses_account_number_pk" PRIMARY KEY("account","number")
);
--> statement-breakpoint
CREATE UNIQUE INDEX "uses_model" ON "uses" USING btree ("account","model","model_number");--> statement-breakpoint
CREATE INDEX "uses_at" ON "uses" USING btree ("account","at","number");--> statement-breakpoint
CREATE INDEX "uses_model_at" ON "uses" USING btree ("account","model","at","model_number");